export type Figure = { what: string; ours: string; target: string; met: boolean | undefined; peer: string };

export const percent = (part: number, all: number): string => (all === 0 ? '–' : (part / all).toFixed(3));

/** A Markdown table of figures. */
export function tableOf(figures: Figure[]): string {
  const rows = figures.map(({ what, ours, target, met, peer }) => [
    what,
    ours,
    target,
    met === undefined ? '' : met ? 'yes' : 'NO',
    peer,
  ]);
  return [['what', 'measured', 'target', 'met', 'peer'], ['---', '---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
