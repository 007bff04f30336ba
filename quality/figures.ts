/** One row of a quality table: a measured value, its target and the same value of another program (`peer`). */
export type QualityFigure = {
  name: string;
  measured: string;
  target?: string;
  isMet?: boolean | undefined;
  peer?: string;
};

export const formatRatio = (part: number, all: number): string => (all === 0 ? '–' : (part / all).toFixed(3));

type Counts = { right: number; wrong: number; missed: number };

export const formatPrecisionAndRecall = ({ right, wrong, missed }: Counts): string =>
  `precision ${formatRatio(right, right + wrong)}, recall ${formatRatio(right, right + missed)} (${right} right, ${wrong} wrong, ${missed} missed)`;

/** Formats figures as a Markdown table. */
export function formatFigures(figures: QualityFigure[]): string {
  const rows = figures.map(({ name, measured, target = '', isMet, peer = '' }) => {
    const verdict = isMet ? 'yes' : 'NO';
    return [name, measured, target, isMet === undefined ? '' : verdict, peer];
  });
  return [['what', 'measured', 'target', 'met', 'peer'], ['---', '---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
