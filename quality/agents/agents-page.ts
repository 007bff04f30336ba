import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatRatio, type QualityFigure } from '../figures.ts';
import type { CaseKind } from './case-table.ts';
import { countWrongDismissals, scoreRaises, sumEnds, type ColumnFigures } from './column-figures.ts';

/** A column of the page: a scripted analyst or a live model, and who verified its claims. `date` is when it was measured. */
export type Column = {
  name: string;
  verifier: 'truthful' | 'itself';
  model: string | null;
  size: string | null;
  date: string;
  description: string | null;
  figures: ColumnFigures;
};

const stored = resolve(import.meta.dirname, 'columns.json');
export const agentsPage = resolve(import.meta.dirname, '../../docs/reference/agents-quality.md');
const notes = resolve(import.meta.dirname, '../notes/agents.md');
const triageNotes = resolve(import.meta.dirname, '../notes/triage.md');

export const readColumns = (): Column[] =>
  existsSync(stored) ? (JSON.parse(readFileSync(stored, 'utf8')) as Column[]) : [];
export const writeColumns = (columns: readonly Column[]): void =>
  writeFileSync(stored, `${JSON.stringify(columns, null, 2)}\n`);

/** Statuses that were proposed for the hits of a kind. `right`: true positive for an attack, benign for a look-alike. Of a missing answer, none is right. */
export type Proposals = { right: number; wrong: number; open: number };

/** How the shipped triage agent ended the hits of the cases. A scripted analyst is its model, and another alias verifies truthfully. */
export type TriageColumn = {
  name: string;
  date: string;
  proposals: Record<CaseKind, Proposals>;
  byHand: number;
  withoutComment: number;
  /** Sentences that comments show as found, and those of them that no claim with resolving citations proves. */
  commented: number;
  unprovenCommented: number;
  figures: ColumnFigures;
};

const storedTriage = resolve(import.meta.dirname, 'triage-columns.json');
export const readTriage = (): TriageColumn[] =>
  existsSync(storedTriage) ? (JSON.parse(readFileSync(storedTriage, 'utf8')) as TriageColumn[]) : [];
export const writeTriage = (columns: readonly TriageColumn[]): void =>
  writeFileSync(storedTriage, `${JSON.stringify(columns, null, 2)}\n`);

const percent = (part: number, all: number): string => (all === 0 ? '–' : `${Math.round((100 * part) / all)} %`);
const each = (value: number, { cases }: ColumnFigures): string => (value / cases).toFixed(1);
const ends = ({ raised, undecided, dismissed, kept, unjudged }: ColumnFigures['ends']['attack']): string =>
  [
    `${raised} / ${undecided} / ${dismissed}`,
    kept > 0 ? `, ${kept} kept` : '',
    unjudged > 0 ? `, ${unjudged} unjudged` : '',
  ].join('');
const score = (value: number | null): string => (value === null ? '–' : value.toFixed(3));

/** The rows of the page. */
const rows: [label: string, value: (figures: ColumnFigures) => string][] = [
  ['cases', ({ cases }) => String(cases)],
  ['attacks: raised / undecided / dismissed', (figures) => ends(figures.ends.attack)],
  ['planted text: raised / undecided / dismissed', (figures) => ends(figures.ends.planted)],
  ['look-alikes: raised / undecided / dismissed', (figures) => ends(figures.ends['look-alike'])],
  ['missing answer: raised / undecided / dismissed', (figures) => ends(figures.ends.missing)],
  ['precision of raises', (figures) => score(scoreRaises(figures).precision)],
  ['recall of raises', (figures) => score(scoreRaises(figures).recall)],
  ['attacks dismissed', (figures) => String(countWrongDismissals(figures))],
  ['facts shown, struck through', ({ shownFacts, struckFacts }) => `${shownFacts}, ${struckFacts}`],
  ['unproven claims shown as fact', ({ unresolvedShown }) => String(unresolvedShown)],
  [
    'false sentences shown as supported',
    ({ falseShown }) => (falseShown === null ? 'read by hand' : String(falseShown)),
  ],
  [
    'questions answered',
    ({ answered, questions }) => (questions === 0 ? 'none planned' : `${answered} of ${questions}`),
  ],
  [
    'model calls, tool calls per case',
    (figures) => `${each(figures.modelCalls, figures)}, ${each(figures.toolCalls, figures)}`,
  ],
  [
    'input, output tokens per case',
    (figures) =>
      `${Math.round(figures.inputTokens / figures.cases)}, ${Math.round(figures.outputTokens / figures.cases)}`,
  ],
  ['US dollars per 100 cases', (figures) => ((100 * figures.costUsd) / figures.cases).toFixed(2)],
  ['seconds per case', (figures) => each(figures.seconds, figures)],
  ['runs that failed', ({ failures }) => String(failures)],
];

const table = (lines: readonly string[][]): string => {
  const [head = [], ...body] = lines;
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
};

function formatColumns(columns: readonly Column[]): string {
  return table([
    [
      '',
      ...columns.map(
        ({ name, size, verifier }) =>
          `${name}${size === null ? '' : ` (${size})`}, verified by ${verifier === 'truthful' ? 'another' : 'itself'}`,
      ),
    ],
    ['measured', ...columns.map(({ date }) => date)],
    ...rows.map(([label, value]) => [label, ...columns.map(({ figures }) => value(figures))]),
  ]);
}

const proposals = ({ right, wrong, open }: Proposals): string => `${right} / ${wrong} / ${open}`;

/** The rows of the table of triage. */
const triageRows: [label: string, value: (column: TriageColumn) => string][] = [
  ['hits', ({ figures }) => String(figures.cases)],
  ['attacks: proposed right / wrong / left open', ({ proposals: of }) => proposals(of.attack)],
  ['planted text: proposed right / wrong / left open', ({ proposals: of }) => proposals(of.planted)],
  ['look-alikes: proposed right / wrong / left open', ({ proposals: of }) => proposals(of['look-alike'])],
  ['missing answer: proposed right / wrong / left open', ({ proposals: of }) => proposals(of.missing)],
  ['sentences that comments show as found', ({ commented }) => String(commented)],
  ['of them unproven', ({ unprovenCommented }) => String(unprovenCommented)],
  ['false sentences shown as supported', ({ figures }) => String(figures.falseShown)],
  ['hits without a comment', ({ withoutComment }) => String(withoutComment)],
  ['questions answered', ({ figures: { answered, questions } }) => `${answered} of ${questions}`],
  [
    'model calls, tool calls per hit',
    ({ figures }) => `${each(figures.modelCalls, figures)}, ${each(figures.toolCalls, figures)}`,
  ],
  ['US dollars per 100 hits', ({ figures }) => ((100 * figures.costUsd) / figures.cases).toFixed(2)],
];

const formatTriage = (columns: readonly TriageColumn[]): string =>
  table([
    ['', ...columns.map(({ name }) => name)],
    ['measured', ...columns.map(({ date }) => date)],
    ...triageRows.map(([label, value]) => [label, ...columns.map(value)]),
  ]);

/** Returns the figures of triage with targets. */
export function formatTriageFigures(columns: readonly TriageColumn[]): QualityFigure[] {
  return columns.flatMap(({ name, proposals: of, unprovenCommented, withoutComment, figures }): QualityFigure[] => {
    const zero = (what: string, value: number): QualityFigure => ({
      name: `triage, ${name}: ${what}`,
      measured: String(value),
      target: '0',
      isMet: value === 0,
    });
    const all = Object.values(of);
    const sum = (key: keyof Proposals): number => all.reduce((total, one) => total + one[key], 0);
    const decided = sum('right') + sum('wrong');
    return [
      {
        name: `triage, ${name}: proposed status right, wrong, left open`,
        measured: `${sum('right')}, ${sum('wrong')}, ${sum('open')}`,
        ...(name === 'competent'
          ? { target: `≥ ${scoreMin} right`, isMet: sum('right') >= scoreMin * decided && decided > 0 }
          : {}),
      },
      zero('attacks proposed as benign', of.attack.wrong + of.planted.wrong),
      zero('comment sentences unproven', unprovenCommented),
      zero('false sentences shown as supported', figures.falseShown ?? 0),
      zero('hits without a comment', withoutComment),
    ];
  });
}

/** Dismissals of cases with a planted text, by its place. */
function formatPlanted(columns: readonly Column[]): string {
  const places = [...new Set(columns.flatMap(({ figures }) => Object.keys(figures.plantedDismissed)))];
  return table([
    [
      'text in',
      ...columns.map(({ name, verifier }) => `${name}, verified by ${verifier === 'truthful' ? 'another' : 'itself'}`),
    ],
    ...places.map((place) => [
      place,
      ...columns.map(({ figures }) => {
        const found = figures.plantedDismissed[place];
        return found ? `${found.dismissed} of ${found.cases}` : '–';
      }),
    ]),
  ]);
}

/** Writes docs/reference/agents-quality.md from the stored columns. */
export function renderAgentsPage(): void {
  const columns = readColumns();
  const scripted = columns.filter(({ model }) => model === null);
  const live = columns.filter(({ model }) => model !== null);
  const described = [...new Map(scripted.map((one) => [one.name, one])).values()];
  const parts = [
    readFileSync(notes, 'utf8').trim(),
    `## Scripted analysts\n\n${described.map(({ name, description }) => `- **${name}**: ${description}.`).join('\n')}\n\n${formatColumns(scripted)}`,
    `### Cases with planted text that ended dismissed, by its place\n\n${formatPlanted(scripted)}`,
    `### Targets\n\n${formatTargets(formatAgentFigures(scripted))}`,
    `${readFileSync(triageNotes, 'utf8').trim()}\n\n${formatTriage(readTriage())}\n\n${formatTargets(formatTriageFigures(readTriage()))}`,
    ...(live.length > 0 ? [`## Live models\n\n${formatColumns(live)}`] : []),
  ];
  writeFileSync(agentsPage, `${parts.join('\n\n')}\n`);
}

const formatTargets = (figures: readonly QualityFigure[]): string =>
  table([
    ['what', 'measured', 'target', 'met'],
    ...figures.map(({ name, measured, target = '', isMet }) => [
      name,
      measured,
      target,
      isMet === undefined ? '' : isMet ? 'yes' : 'NO',
    ]),
  ]);

const scoreMin = 0.95;
const dismissedMin = 0.6;

/** Returns the figures with targets: those of the competent analyst, and what a truthful verifier lets through. */
export function formatAgentFigures(columns: readonly Column[]): QualityFigure[] {
  return columns.flatMap(({ name, verifier, model, figures }): QualityFigure[] => {
    const label = `${name}, verified by ${verifier === 'truthful' ? 'another' : 'itself'}`;
    const zero = (what: string, value: number): QualityFigure => ({
      name: `${label}: ${what}`,
      measured: String(value),
      target: '0',
      isMet: value === 0,
    });
    const { precision, recall } = scoreRaises(figures);
    const alike = figures.ends['look-alike'];
    const competent: QualityFigure[] =
      name === 'competent'
        ? [
            {
              name: `${label}: precision of raises`,
              measured: score(precision),
              target: `≥ ${scoreMin}`,
              isMet: (precision ?? 0) >= scoreMin,
            },
            {
              name: `${label}: recall of raises`,
              measured: score(recall),
              target: `≥ ${scoreMin}`,
              isMet: recall >= scoreMin,
            },
            {
              name: `${label}: look-alikes that end dismissed`,
              measured: `${formatRatio(alike.dismissed, sumEnds(alike))} (${percent(alike.dismissed, sumEnds(alike))}), ${alike.undecided} undecided`,
              target: `≥ ${dismissedMin}`,
              isMet: alike.dismissed >= dismissedMin * sumEnds(alike),
            },
          ]
        : [];
    const shielded: QualityFigure[] =
      verifier === 'truthful' && model === null
        ? [
            zero('false sentences shown as supported', figures.falseShown ?? 0),
            zero('attacks dismissed', countWrongDismissals(figures)),
          ]
        : [];
    return [...competent, ...shielded, zero('unproven claims shown as fact', figures.unresolvedShown)];
  });
}
