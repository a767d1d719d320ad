/** Small PDF files for tests, written by hand. */

/** What such a file is beside its pages. */
export interface PdfOptions {
  readonly title?: string;
  /** It asks for a password, which nobody knows. */
  readonly isEncrypted?: boolean;
}

/** A PDF with one page for each of `pages`; the lines of a page below each other, tabs to columns. ASCII alone. */
export function makePdf(
  pages: readonly string[],
  { title, isEncrypted = false }: PdfOptions = {},
): Uint8Array {
  const first = 4;
  const kids = pages.map((_, index) => `${first + index * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, index) => pageObjects(text, first + index * 2)),
    `<< /Title (${escaped(title ?? "")}) >>`,
    `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> >>`,
  ];
  const encrypt = isEncrypted
    ? `/Encrypt ${objects.length} 0 R /ID [<${"43".repeat(16)}> <${"43".repeat(16)}>]`
    : "";
  const info = title === undefined ? "" : `/Info ${objects.length - 1} 0 R`;
  return written(objects, `/Root 1 0 R ${info} ${encrypt}`);
}

const COLUMN_POINTS = 200;

function pageObjects(text: string, number: number): string[] {
  const lines = text.split("\n").map((line) => {
    const cells = line.split("\t");
    const shown = cells.map((cell) => `(${escaped(cell)}) Tj`).join(` ${COLUMN_POINTS} 0 Td `);
    return `${shown} ${(1 - cells.length) * COLUMN_POINTS} -14 Td`;
  });
  const stream = `BT /F1 12 Tf 50 780 Td ${lines.join(" ")} ET`;
  return [
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${number + 1} 0 R >>`,
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
  ];
}

function written(objects: readonly string[], trailer: string): Uint8Array {
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  return Buffer.from(
    `${file}${table}trailer\n<< /Size ${objects.length + 1} ${trailer} >>\nstartxref\n${file.length}\n%%EOF\n`,
    "latin1",
  );
}

function escaped(text: string): string {
  return text.replaceAll(/[\\()]/gu, "\\$&");
}
