import { showLine, showText } from '../../platform/lib/text/show-text.ts';

/**
 * Everything that commands print passes through this file, so that no name, title or error can drive the terminal or pass for another line.
 */

/** Prints lines on stdout. */
export function printLines(...lines: string[]): void {
  console.log(lines.map(showLine).join('\n'));
}

/** Prints a text of several lines on stdout. */
export function printText(text: string): void {
  console.log(showText(text));
}

/** Prints a text, such as an error, on stderr. */
export function printError(text: string): void {
  console.error(showText(text));
}

/** Prints a document for other programs: a file or a pipe receives it as it is. */
export function printDocument(text: string): void {
  console.log(process.stdout.isTTY ? showText(text) : text);
}

/** Prints the result of a command, as JSON or as lines or a text. Returns exit code 0. */
export function printResult(isJson: boolean | undefined, value: unknown, text: string | readonly string[]): number {
  if (isJson) printText(JSON.stringify(value));
  else if (typeof text === 'string') printText(text);
  else printLines(...text);
  return 0;
}

/** Reports that `done` of `total` steps are complete. `label` describes the last one. */
type ReportProgress = (done: number, total: number, label: string) => void;

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
