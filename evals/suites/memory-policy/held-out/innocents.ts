/** Held-out harmless texts that look like secrets: hashes, numbers, codes, and sentences with the words of secrets. */
import { passed, type PolicyCase } from "../policy-case.ts";
import { digest, grouped, iban, randomOf, run } from "./values.ts";

const random = randomOf(20_260_302);
const of = (alphabet: Parameters<typeof run>[1], length: number): string => run(random, alphabet, length);
const uuid = (): string =>
  `${of("hex", 8)}-${of("hex", 4)}-4${of("hex", 3)}-a${of("hex", 3)}-${of("hex", 12)}`;

/** An IBAN whose check digits are wrong. */
const brokenIban = (): string => {
  const right = iban("DE", of("digits", 18));
  return `${right.slice(0, 3)}${(Number(right[3]) + 1) % 10}${right.slice(4)}`;
};

const HASHES: readonly string[] = [
  `the bug was fixed in commit ${digest("sha1", "a")}`,
  `we are at ${digest("sha1", "b").slice(0, 7)} on main`,
  `revert ${digest("sha1", "c").slice(0, 12)} and try again`,
  `sha256 of the installer: ${digest("sha256", "d")}`,
  `The md5 sum is ${digest("md5", "e")}`,
  `image lily@sha256:${digest("sha256", "f")}`,
  `"integrity": "sha512-${of("base64", 86)}=="`,
  `my SSH public key is ssh-ed25519 AAAAC3NzaC1lZDI1NTE5${of("base64", 48)} rae@laptop`,
  `the PGP fingerprint of the release is ${grouped(of("hex", 40).toUpperCase(), [4])}`,
  `donations go to the address 0x${of("hex", 40)}`,
  `ETag "${of("hex", 32)}"`,
  `git bisect blamed ${digest("sha1", "g")} (the parser)`,
];

const IDS: readonly string[] = [
  `my ticket is ${uuid()}`,
  `session ${uuid()} was the one with the crash`,
  `The document lives at https://docs.example.org/d/${of("url", 44)}/edit`,
  `the video is https://youtu.be/${of("url", 11)}`,
  `playlist https://open.spotify.com/playlist/${of("alnum", 22)}?si=${of("alnum", 16)}`,
  `https://shop.example.org/p/lamp?utm_source=mail&utm_campaign=spring-sale-2026&ref=${of("alnum", 12)}`,
  `the meeting is at https://meet.example.org/abc-defg-hij`,
  `my map pin is https://maps.example.org/@50.8503,4.3517,15z/data=!3m1!4b1`,
  `order ${of("upper", 3)}-${of("digits", 8)} has not arrived`,
  `order number 114-${of("digits", 7)}-${of("digits", 7)}`,
  `the parcel is 1Z999AA1${of("digits", 10)}`,
  `invoice 2026-000${of("digits", 3)} is paid`,
  `my booking code is ${of("upper", 6)}`,
  `seat 14C on LH${of("digits", 3)}`,
  `the car's VIN is WVWZZZ1JZ3W${of("digits", 6)}`,
  `serial number of the printer: ${of("upper", 12)}`,
  `customer number ${of("digits", 9)}`,
  `ISBN 978-0-13-468599-1 is the book I want`,
  `ISBN 0-201-63361-2`,
  `DOI 10.1145/${of("digits", 7)}.${of("digits", 7)}`,
  `EAN 4006381333931 is the marker`,
  `bank code of the branch is 37040044`,
  `the transfer failed for ${brokenIban()}`,
  `IBANs from Germany begin with DE and have 22 characters`,
];

const NUMBERS: readonly string[] = [
  "call me on +49 170 5550 1234",
  "my number is (555) 010-4477",
  "the office phone is 0032 2 555 12 12",
  "fax 020 7946 0958",
  "the house is at 50.850346, 4.351721",
  "router at 192.168.178.1, printer at fe80::1ff:fe23:4567:890a",
  "the MAC address is 00:1A:2B:3C:4D:5E",
  "e is 2.71828182845904523536",
  "we upgraded from 20.19.43 to 22.11.0-rc.1+build.5114f85",
  "typescript 5.9.3, oxlint 1.94.0, zod 4.6.7",
  "the loan is 245,000 over 240 months at 3.85 %",
  "1234 5678 are the last digits of nothing",
  "the marathon took me 3:58:41",
  "the meeting is 2026-05-04T10:30:00+02:00",
  "population 8 336 817 in 2020",
  "my shoe size is 42, EU, and 8.5 in the UK",
  "the flat has 84 m2 and costs 1,250 a month",
  "epoch 1767225600000 is new year",
  "room 4211 on the fourth floor",
  "bus 4810 stops at the door",
];

const SENTENCES: readonly string[] = [
  "our lab still has a token ring network",
  "a token of appreciation went to Ola",
  "the key to the song is F sharp minor",
  "the secret ingredient is nutmeg",
  "I forgot my password again and had to call support",
  "the password policy asks for twelve characters and a digit",
  "please never write passwords into tickets",
  "Passwörter gehören in den Passwortmanager",
  "le mot de passe doit être changé tous les trois mois",
  "la contraseña caduca cada noventa días",
  "de wachtwoorden staan in de kluis",
  "my passport expires in 2031",
  "the API returns a token in the header",
  "access keys are rotated every quarter",
  "pin the note to the board",
  "the PIN entry screen is ugly",
  "my card number is on the back of the card",
  "seed phrases belong on paper, not in a chat",
  "the recovery code feature ships in May",
  "the seed catalogue lists abundant carrots and early peas for cold gardens in the north",
  "private keys never leave the laptop",
  "the certificate begins with -----BEGIN CERTIFICATE-----",
  "I use Bitwarden as my password manager",
  "two-factor authentication is on everywhere",
  "the login page is slow",
  "bearer of bad news is always me",
  "the client secret santa is on Friday",
  "the combination of garlic and lemon is my favourite",
  "access to the garden is through the garage",
  "the basic plan costs nine euros",
];

const OTHERS: readonly string[] = [
  `the logo starts with data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA${of("base64", 24)}`,
  "our colours are #ff8800, #1A2B3C and rgba(255, 136, 0, 0.5)",
  "oklch(0.7 0.15 250) is the accent",
  "font: 14px/1.5 system-ui, -apple-system, sans-serif",
  "the regex is ^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$",
  "import { createHash } from 'node:crypto'",
  "SELECT id, name FROM users WHERE created_at > '2026-01-01'",
  "chmod 0600 ~/.ssh/config",
  "chess opening 1.e4 e5 2.Nf3 Nc6 3.Bb5",
  "caffeine is CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
  "gene BRCA1 c.68_69delAG",
  "pneumonoultramicroscopicsilicovolcanoconiosis is the longest word I know",
  "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch is where I was born",
  "Donaudampfschifffahrtsgesellschaftskapitän was grandfather's job",
  "my handle is xX_DragonSlayer_2009_Xx",
  "the repo is github.com/example/very-long-repository-name-with-many-words",
  "hashtag #ThrowbackThursdayInTheGardenWithFriends",
];

/** All of them. */
export function heldOutInnocents(): readonly PolicyCase[] {
  return passed([...HASHES, ...IDS, ...NUMBERS, ...SENTENCES, ...OTHERS]);
}
