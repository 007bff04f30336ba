import { showLine } from '../platform/lib/text/show-text.ts';

/** Reports that `done` of `total` steps are complete. `label` describes the last one. */
export type ReportProgress = (done: number, total: number, label: string) => void;

type Output = { isTTY?: boolean; columns?: number; write: (text: string) => unknown };

const barWidth = 24;
/** How many lines a whole task prints where there is no terminal. */
const linesMax = 6;

/** Reports progress as a bar that is redrawn in place on a terminal, and elsewhere as a few lines. */
export function createProgress(output: Output, unit: string): ReportProgress {
  let linesPrinted = 0;
  return (done, total, label) => {
    const count = `${done} of ${total} ${unit}`;
    const shown = showLine(label);
    if (output.isTTY) {
      const filled = Math.round((barWidth * done) / total);
      const text = `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}] ${count}  ${shown}`;
      output.write(`\r\u001b[K${text.slice(0, (output.columns ?? 80) - 1)}${done >= total ? '\n' : ''}`);
      return;
    }
    const due = Math.floor((done * linesMax) / total);
    if (due <= linesPrinted) return;
    linesPrinted = due;
    output.write(`  ${shown}  ${count}\n`);
  };
}

/** Reports work of unknown length: on a terminal in a line that is rewritten, elsewhere not at all. */
export function createTextProgress(output: Output): { report: (text: string) => void; end: () => void } {
  if (!output.isTTY) return { report: () => undefined, end: () => undefined };
  return {
    report: (text) => void output.write(`\r\u001b[K${showLine(text).slice(0, (output.columns ?? 80) - 1)}`),
    end: () => void output.write('\r\u001b[K'),
  };
}
