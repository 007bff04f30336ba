import type { Command } from '@commander-js/extra-typings';
import { UsageError } from '../support/failures.ts';
import { printDocument } from '../support/output.ts';

type Completion = { path: string[]; words: { name: string; description: string }[] };

/** Prints the completion script of a shell, made from the command table. */
export async function completionCommand(program: Command, shell: string): Promise<number> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (!script) throw new UsageError(`SHELL must be one of ${Object.keys(scripts).join(', ')}.`);
  printDocument(script(listCompletions(program)));
  return 0;
}

const scripts: Record<string, (completions: Completion[]) => string> = {
  bash: bashScript,
  zsh: (completions) =>
    `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(completions)}`,
  fish: fishScript,
};

/** Returns the words that may follow every command: its subcommands and options. */
function listCompletions(command: Command, path: string[] = []): Completion[] {
  const children = command.commands as readonly Command[];
  const words = [
    ...children.map((child) => ({ name: child.name(), description: child.description() })),
    ...command.options.map(({ long, description }) => ({ name: long ?? '', description })),
    { name: '--help', description: 'print help' },
  ];
  return [{ path, words }, ...children.flatMap((child) => listCompletions(child, [...path, child.name()]))];
}

function bashScript(completions: Completion[]): string {
  const cases = completions.map(
    ({ path, words }) => `    '${path.join(' ')}') words='${words.map(({ name }) => name).join(' ')}' ;;`,
  );
  const prefixes = completions.map(({ path }) => `'${path.join(' ')}'`).join('|');
  return `_tocsin() {
  local path='' next word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in ${prefixes}) path="$next" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tocsin tocsin`;
}

function fishScript(completions: Completion[]): string {
  const lines = completions.flatMap(({ path, words }) => {
    const condition =
      path.length === 0
        ? '__fish_use_subcommand'
        : path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ');
    return words.map(({ name, description }) => {
      const flag = name.startsWith('--') ? `-l ${name.slice(2)}` : `-f -a ${name}`;
      return `complete -c tocsin -n '${condition}' ${flag} -d '${description.replaceAll("'", "\\'")}'`;
    });
  });
  return lines.join('\n');
}
