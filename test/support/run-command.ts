import { vi } from 'vitest';
import { main } from '../../src/main.ts';

/** Runs a command line within this process, which takes a tenth of the time of `runProgram`. Returns its exit code and its output in order. */
export async function runCommand(args: string[], env: Record<string, string>): Promise<{ code: number; out: string }> {
  let out = '';
  const print = (...parts: unknown[]): void => {
    out += `${parts.join(' ')}\n`;
  };
  const spies = (['log', 'error'] as const).map((name) => vi.spyOn(console, name).mockImplementation(print));
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    return { code: await main(args), out };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}
