import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { vi } from 'vitest';
import { main } from '../../src/main.ts';
import { closeServer, listen } from './listen.ts';

type Command = { cwd: string; args: string[]; env: Record<string, string> };

/**
 * Runs the program's commands that a shell types in this process, because a process of its own takes up to two seconds of processor time for each.
 * `shell` defines `run_here`, which behaves like the program: arguments, folder, exported variables, both outputs and the exit code.
 */
export async function startCommandServer(): Promise<{ shell: string; stop: () => Promise<void> }> {
  let previous: Promise<unknown> = Promise.resolve();
  const server = createServer(async (request, response) => {
    const command = parseCommand((await buffer(request)).toString());
    // The folder and the environment belong to the whole process.
    const turn = previous.then(() => run(command));
    previous = turn;
    response.end(await turn);
  });
  const url = await listen(server);
  const shell = `run_here() {
  local answer
  answer=$({ printf '%s\\0' "$PWD" "$#" "$@"; env -0; } | curl --silent --show-error --fail --data-binary @- ${url}) || return
  eval "$answer"
}`;
  return { shell, stop: () => closeServer(server) };
}

function parseCommand(text: string): Command {
  const [cwd = '', count, ...rest] = text.split('\0').slice(0, -1);
  const args = rest.slice(0, Number(count));
  const variables = rest.slice(Number(count)).map((line): [string, string] => {
    const at = line.indexOf('=');
    return [line.slice(0, at), line.slice(at + 1)];
  });
  return { cwd, args, env: Object.fromEntries(variables) };
}

/** Returns shell commands that print what the command printed and return its exit code. */
async function run({ cwd, args, env }: Command): Promise<string> {
  const printed: string[] = [];
  const print = (text: string, stream: 1 | 2): void => {
    printed.push(`printf %s ${quote(text)} >&${stream}`);
  };
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const spies = [
    ...(['log', 'info'] as const).map((name) => vi.spyOn(console, name).mockImplementation(lineTo(1))),
    ...(['error', 'warn'] as const).map((name) => vi.spyOn(console, name).mockImplementation(lineTo(2))),
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => (print(String(text), 1), true)),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => (print(String(text), 2), true)),
  ];
  function lineTo(stream: 1 | 2) {
    return (...parts: unknown[]): void => print(`${parts.join(' ')}\n`, stream);
  }
  process.chdir(cwd);
  replaceEnvironment(env);
  try {
    const code = await main(args);
    return [...printed, `return ${code}`].join('\n');
  } finally {
    replaceEnvironment(before.env);
    process.chdir(before.cwd);
    for (const spy of spies) spy.mockRestore();
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function replaceEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}
