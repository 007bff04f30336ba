/** Awaits the command that runs and receives its exit code. */
export type Run = (work: Promise<number>) => Promise<void>;

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

/** Returns the examples at the end of a command's help. */
export const examples = (...lines: string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
