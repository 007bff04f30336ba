import { showLine, showText } from '../platform/lib/text/show-text.ts';

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
