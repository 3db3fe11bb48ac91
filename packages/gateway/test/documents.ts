/** Small files of each kind, as the programs write them. */
import { zip } from "./zip.ts";

const OFFICE = "http://schemas.openxmlformats.org";
const RELATIONS = `xmlns="${OFFICE}/package/2006/relationships"`;

/** `body`: what stands in `w:body`. */
export function wordFile(body: string): Buffer {
  return zip({
    "word/document.xml": `<w:document xmlns:w="${OFFICE}/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
    "word/styles.xml": `<w:styles xmlns:w="${OFFICE}/wordprocessingml/2006/main"/>`,
  });
}

/** One sheet named `Sums`. */
export function excelFile(rows: string, sharedStrings = ""): Buffer {
  const main = `xmlns="${OFFICE}/spreadsheetml/2006/main"`;
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${OFFICE}/officeDocument/2006/relationships/${type}" Target="${target}"/>`;
  return zip({
    "[Content_Types].xml": `<Types xmlns="${OFFICE}/package/2006/content-types"/>`,
    "_rels/.rels": `<Relationships ${RELATIONS}>${relation("r1", "officeDocument", "xl/workbook.xml")}</Relationships>`,
    "xl/workbook.xml": `<workbook ${main} xmlns:r="${OFFICE}/officeDocument/2006/relationships"><sheets><sheet name="Sums" sheetId="1" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships ${RELATIONS}>${relation("r1", "worksheet", "worksheets/sheet1.xml")}${relation("r2", "sharedStrings", "sharedStrings.xml")}</Relationships>`,
    "xl/sharedStrings.xml": `<sst ${main}>${sharedStrings}</sst>`,
    "xl/worksheets/sheet1.xml": `<worksheet ${main}><sheetData>${rows}</sheetData></worksheet>`,
  });
}

/** A few kilobytes that name one long text 45,000 times. */
export function excelBomb(characters: number): Buffer {
  const cell = '<c t="s"><v>0</v></c>';
  return excelFile(`<row>${cell.repeat(150)}</row>`.repeat(300), `<si><t>${"A ".repeat(characters / 2)}</t></si>`);
}

/** One page for each text. */
export function pdfFile(pages: readonly string[]): Buffer {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${4 + index * 2} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, index) => {
      const lines = text.split("\n").map((line) => `(${line}) Tj T*`);
      const content = `BT /F1 12 Tf 14 TL 72 700 Td ${lines.join(" ")} ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  return Buffer.from(`${text}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
}
