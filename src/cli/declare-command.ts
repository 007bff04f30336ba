import type { Command } from '@commander-js/extra-typings';

/** An argument as its help shows it, such as `<NAME>`, `[NAME]` or `<PATH...>`, and its description. */
type Argument = readonly [usage: string, description: string];

/**
 * An option as its help shows it, such as `--json` or `--org <NAME>`, its description, and what is special about it: whether it must be set or may
 * be repeated, its default, or a function that parses its value.
 */
type CommandOption = readonly [
  usage: string,
  description: string,
  rule?: 'required' | 'repeatable' | { default: string } | ((text: string) => unknown),
];

/** A command. `name` is its path, such as `org create`. `load` imports the function that runs it, which returns the exit code. */
export type CommandRow = {
  name: string;
  description: string;
  args: readonly Argument[];
  options: readonly CommandOption[];
  examples: readonly string[];
  load: () => Promise<unknown>;
};

/** The option of commands that print JSON instead of text. */
export const json = ['--json', 'print JSON'] as const;

/** Returns a row of the command table. The function that `load` imports receives the arguments, the options and the whole command line. */
export const command = <
  const Args extends readonly Argument[] = [],
  const Options extends readonly CommandOption[] = [],
>(
  name: string,
  description: string,
  row: { args?: Args; options?: Options; examples: readonly string[]; load: () => Promise<Handler<Args, Options>> },
): CommandRow => ({ name, description, args: [], options: [], ...row });

type Handler<Args extends readonly Argument[], Options extends readonly CommandOption[]> = (
  ...input: [
    ...{ [Index in keyof Args]: ArgumentValue<Args[Index][0]> },
    { [Option in Options[number] as OptionName<Option[0]>]: OptionValue<Option> },
    Command,
  ]
) => Promise<number>;

type ArgumentValue<Usage> = Usage extends `${string}...${string}`
  ? string[]
  : Usage extends `[${string}`
    ? string | undefined
    : string;

/** `dryRun` for `--dry-run` and `to` for `--to <KIND>`. */
type OptionName<Usage> = Usage extends `--${infer Name} ${string}`
  ? CamelCase<Name>
  : Usage extends `--${infer Name}`
    ? CamelCase<Name>
    : never;
type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : Text;

type OptionValue<Option extends CommandOption> = Option extends readonly [string, string, infer Rule]
  ? Rule extends (text: string) => infer Value
    ? Value | undefined
    : Rule extends 'repeatable'
      ? string[] | undefined
      : string
  : Option[0] extends `${string} ${string}`
    ? string | undefined
    : boolean | undefined;
