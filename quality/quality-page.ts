import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const page = resolve(import.meta.dirname, '../docs/reference/quality.md');
const soak = resolve(import.meta.dirname, 'soak.md');
const soakHead = '\n## Soak\n';

/** Writes docs/reference/quality.md: the measured tables, the notes, and the section of the last soak (which takes hours). */
export function writeQualityPage(measured: string): void {
  const notes = readFileSync(resolve(import.meta.dirname, 'notes.md'), 'utf8');
  write(`# Quality\n\nMade by \`npm run quality -- --write\` from the recorded inputs.\n\n${measured}\n${notes}`);
}

/** Stores the soak section and replaces it in the page. */
export function writeSoakSection(section: string): void {
  writeFileSync(soak, section);
  write(readFileSync(page, 'utf8').split(soakHead)[0]!);
}

function write(text: string): void {
  writeFileSync(page, `${text.trimEnd()}\n\n${readFileSync(soak, 'utf8')}`);
}
