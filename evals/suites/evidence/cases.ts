/** Documents and questions whose answers stand in one known passage, and questions that none of them answers. */

/** A document of the evaluation. */
export interface EvidenceDocumentCase {
  readonly name: string;
  readonly text: string;
}

/** A question. */
export interface EvidenceQuestion {
  readonly asked: string;
  /** Document and words of the passage that answers; null where no passage may be given. */
  readonly answer: { readonly document: string; readonly says: string } | null;
}

export const DOCUMENTS: readonly EvidenceDocumentCase[] = [
  {
    name: "handbook.md",
    text: `# Handbook

## Working hours

The office is open from seven to nineteen. Core time is ten to fifteen.

## Holidays

Every employee has twenty-five days of paid leave a year. Unused days expire at the end of March.

## Illness

Whoever is ill writes to the team before ten. A doctor's note is needed from the fourth day on.

## Equipment

Laptops are replaced every four years. Broken ones are exchanged at the service desk on the second floor.
`,
  },
  {
    name: "lease.md",
    text: `# Lease of the flat

## Rent

The rent is 1,480 francs a month, due on the first. It includes heating and water but not electricity.

## Deposit

The tenant pays a deposit of three months' rent into a blocked account.

## Notice

Either side may end the lease with three months' notice to the end of March, June or September.

## Pets

Cats are allowed. Dogs need the landlord's written consent.
`,
  },
  {
    name: "recipe.html",
    text: `<!doctype html><title>Walnut bread</title><h1>Walnut bread</h1><h2>Dough</h2><p>Mix 500 g of flour with 10 g of
salt, 5 g of yeast and 320 ml of water. Knead for ten minutes and let it rest for an hour.</p><h2>Baking</h2><p>Fold in
150 g of walnuts. Bake at 220 degrees for forty minutes.</p>`,
  },
  {
    name: "manual.txt",
    text: `Heat pump, short manual

The filter has to be cleaned twice a year: switch the pump off, open the flap, rinse the filter with cold water.

Error E4 means that the pressure is too low. Refill water until the gauge shows 1.5 bar.

Error E7 means that the outdoor sensor is not connected.

In winter the pump defrosts itself; steam is then normal and no sign of a fault.
`,
  },
  {
    name: "抄録.txt",
    text: "会議は毎週火曜日の午後三時に始まります。\n\n議事録は田中さんが書きます。\n\n次の大会は京都で開かれます。\n",
  },
];

const from = (document: string, says: string) => ({ document, says });

export const QUESTIONS: readonly EvidenceQuestion[] = [
  { asked: "How many days of leave do I have?", answer: from("handbook.md", "twenty-five days") },
  { asked: "when do unused holidays expire", answer: from("handbook.md", "end of March") },
  { asked: "From which day do I need a doctor's note?", answer: from("handbook.md", "fourth day") },
  { asked: "Where are broken laptops exchanged?", answer: from("handbook.md", "second floor") },
  { asked: "What is core time at the office?", answer: from("handbook.md", "ten to fifteen") },
  { asked: "How much is the rent?", answer: from("lease.md", "1,480 francs") },
  { asked: "Does the rent include electricity?", answer: from("lease.md", "not electricity") },
  { asked: "What notice ends the lease?", answer: from("lease.md", "three months' notice") },
  { asked: "Are dogs allowed in the flat?", answer: from("lease.md", "written consent") },
  { asked: "How large is the deposit?", answer: from("lease.md", "blocked account") },
  { asked: "How hot do I bake the walnut bread?", answer: from("recipe.html", "220 degrees") },
  { asked: "How much yeast goes into the dough?", answer: from("recipe.html", "5 g of yeast") },
  { asked: "What does error E4 mean?", answer: from("manual.txt", "pressure is too low") },
  { asked: "How often is the filter cleaned?", answer: from("manual.txt", "twice a year") },
  { asked: "議事録は誰が書きますか", answer: from("抄録.txt", "田中") },
  { asked: "次の大会はどこですか", answer: from("抄録.txt", "京都") },
  { asked: "Who won the chess tournament in Oslo?", answer: null },
  { asked: "Write me a poem about the sea", answer: null },
  { asked: "good evening", answer: null },
  { asked: "Which train goes to the airport on Sundays?", answer: null },
  { asked: "thanks, that is all", answer: null },
];
