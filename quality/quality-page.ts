import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

export const qualityPage = resolve(import.meta.dirname, '../docs/reference/quality.md');
const soak = resolve(import.meta.dirname, 'soak.md');
const figuresStart = 'Command: `npm run quality -- ';

/** The subjects of the page in order. Each has its notes in `notes/`, and its figures follow them. */
export const qualitySubjects = [
  'indicators',
  'values',
  'names',
  'severity',
  'techniques',
  'technique-reports',
  'annoctr',
  'reports',
  'reading',
  'duplicates',
  'feeds',
  'corrections',
  'passages',
  'search',
  'stix-out',
  'noise',
  'scenarios',
  'incidents',
  'windows',
  'audit-logs',
  'late-data',
  'injection',
  'intents',
  'cost',
  'sigma',
  'portable',
] as const;

export type QualitySubject = (typeof qualitySubjects)[number];

/**
 * Returns docs/reference/quality.md: the introduction, the notes and figures of each subject, hostile input, and the section of the last soak
 * (which takes hours). A subject that was not measured keeps its figures on the page. A subject without figures is left out.
 */
export function renderQualityPage(measured: ReadonlyMap<string, string> = new Map()): string {
  const figures = new Map([...readFigures(readFileSync(qualityPage, 'utf8')), ...measured]);
  const sections = qualitySubjects.flatMap((subject) => {
    const table = figures.get(subject);
    if (table === undefined) return [];
    const notes = readNotes(subject);
    // Notes with sections of their own end before the figures.
    return [notes.includes('\n### ') ? `${notes}\n### Figures\n\n${table}` : `${notes}\n${table}`];
  });
  const parts = [
    `# Quality\n\n${fillFigures(readNotes('introduction'), figures)}`,
    ...sections,
    readNotes('hostile-input'),
    readFileSync(soak, 'utf8'),
    readNotes('soak'),
  ];
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`;
}

/** Writes the page with the figures of the measured subjects. */
export function writeQualityPage(measured?: ReadonlyMap<string, string>): void {
  writeFileSync(qualityPage, renderQualityPage(measured));
}

/** Stores the soak section and writes the page with it. */
export function writeSoakSection(section: string): void {
  writeFileSync(soak, section);
  writeQualityPage();
}

/** Returns the command and the table of a subject as they are on the page. */
export const formatSection = (subject: string, table: string): string => `${figuresStart}${subject}\`\n\n${table}\n`;

const readNotes = (name: string): string => readFileSync(resolve(import.meta.dirname, 'notes', `${name}.md`), 'utf8');

/** Returns the command and table of each subject on a page. */
function readFigures(text: string): Map<string, string> {
  const blocks = text.split(/\n(?=## )/).filter((section) => section.includes(figuresStart));
  return new Map(
    blocks.map((section) => {
      const block = section.slice(section.indexOf(figuresStart)).trim();
      return [block.slice(figuresStart.length, block.indexOf('`', figuresStart.length)), `${block}\n`];
    }),
  );
}

/**
 * Replaces each `{{SUBJECT: NAME}}` by the measured value of that row, without its counts.
 * @throws if no row has the name, so that a renamed figure does not go unnoticed.
 */
function fillFigures(text: string, figures: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\{\{([\w-]+): (.+?)\}\}/g, (_, subject: string, name: string) => {
    const row = (figures.get(subject) ?? '').split('\n').find((line) => line.startsWith(`| ${name} | `));
    if (row === undefined) throw new Error(`quality/notes/introduction.md: ${subject} has no figure "${name}".`);
    return row.split(' | ')[1]!.replace(/ \(.*$/, '');
  });
}

if (import.meta.main) {
  writeQualityPage();
  console.log('Wrote docs/reference/quality.md.');
}
