/** Prints the result of a command, as JSON or as text. Returns exit code 0. */
export function printResult(isJson: boolean | undefined, value: unknown, text: string): number {
  console.log(isJson ? JSON.stringify(value) : text);
  return 0;
}
