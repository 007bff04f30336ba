import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const page = resolve(import.meta.dirname, '../docs/reference/quality.md');
const soak = resolve(import.meta.dirname, 'soak.md');
const soakHead = '\n## Soak\n';

/**
 * Writes docs/reference/quality.md: the sections of all subjects in order, the notes, and the section of the last soak (which takes hours). A
 * subject that was not measured keeps its section.
 */
export function writeQualityPage(subjects: readonly string[], measured: ReadonlyMap<string, string>): void {
  const notes = readFileSync(resolve(import.meta.dirname, 'notes.md'), 'utf8');
  const existing = readSections(readFileSync(page, 'utf8'));
  const sections = subjects.flatMap((name) => measured.get(name) ?? existing.get(name) ?? []);
  write(
    `# Quality\n\nMade by \`npm run quality -- --write\` from the recorded inputs.\n\n${sections.join('\n')}\n${notes}`,
  );
}

/** Returns the sections of a page by their titles, each with one newline at its end. */
function readSections(text: string): Map<string, string> {
  const sections = text.split(/\n(?=## )/).slice(1);
  return new Map(sections.map((section) => [section.slice(3).split('\n')[0]!, `${section.trimEnd()}\n`]));
}

/** Stores the soak section and replaces it in the page. */
export function writeSoakSection(section: string): void {
  writeFileSync(soak, section);
  write(readFileSync(page, 'utf8').split(soakHead)[0]!);
}

function write(text: string): void {
  writeFileSync(page, `${text.trimEnd()}\n\n${readFileSync(soak, 'utf8')}`);
}
