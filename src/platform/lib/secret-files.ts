import { readFileSync } from 'node:fs';

export type Environment = Record<string, string | undefined>;

/**
 * Returns the value of an environment variable, or the content of the file whose path the variable `<name>_FILE` has, without line breaks at
 * its end: this is how Docker and Kubernetes mount secrets. An empty variable counts as unset. Throws if both are set, or if the file cannot be
 * read or is empty.
 */
export function findSetting(env: Environment, name: string): string | undefined {
  const { [name]: value, [`${name}_FILE`]: path } = env;
  if (!path) return value || undefined;
  if (value) throw new Error(`${name}: ${name}_FILE is set as well. Set only one of them.`);
  const content = readFile(`${name}_FILE`, path).replace(/[\r\n]+$/, '');
  if (content === '') throw new Error(`${name}_FILE: the file ${path} is empty.`);
  return content;
}

function readFile(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `${setting}: the file ${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}.`,
      {
        cause: error,
      },
    );
  }
}
