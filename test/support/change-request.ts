import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
// The programming interface of the compiler that `npm run types` runs. The package calls it unstable, and is pinned.
import { API, type Diagnostic } from 'typescript/unstable/sync';

/** An addition that `CONTRIBUTING.md` describes in a row of its table, and the places that a contributor must change for it. */
export type ChangeRequest = {
  /** First cell of the row. */
  addition: string;
  /** The edits that begin it and declare a fake member, by file: texts of the file with their replacements. */
  edits: Record<string, [text: string, replacement: string][]>;
  /** The places where the compiler then reports an error, by file, each with a part of its message. */
  compiler: Record<string, string>;
  /** Other places, by file or folder, each with the test file that fails while the member is missing there. */
  suites?: Record<string, string>;
};

const root = resolve(import.meta.dirname, '../..');
const config = resolve(root, 'tsconfig.change-requests.json');

/** Returns the compiler's errors in `src` and `test` after all edits of all requests, each as its file and its message. */
export function compileWith(requests: readonly ChangeRequest[]): { file: string; message: string }[] {
  const edited = new Map([[config, JSON.stringify({ extends: './tsconfig.json', include: ['src', 'test', '*.ts'] })]]);
  for (const [file, edits] of requests.flatMap((request) => Object.entries(request.edits))) {
    const path = resolve(root, file);
    let text = edited.get(path) ?? readFileSync(path, 'utf8');
    for (const [from, to] of edits) {
      if (!text.includes(from)) throw new Error(`${file} does not contain "${from}". Adapt the edits of the request.`);
      text = text.replace(from, () => to);
    }
    edited.set(path, text);
  }
  const fs = {
    readFile: (path: string) => edited.get(path),
    fileExists: (path: string) => edited.has(path) || undefined,
  };
  const api = new API({ cwd: root, fs });
  try {
    const { program } = api.updateSnapshot({ openProjects: [config] }).getProject(config)!;
    return program.getSemanticDiagnostics().map((error) => ({
      file: relative(root, error.fileName ?? ''),
      message: messageOf(error),
    }));
  } finally {
    api.close();
  }
}

const messageOf = ({ text, messageChain = [] }: Diagnostic): string =>
  [text, ...messageChain.map(messageOf)].join('\n');

/** Returns the paths in the row of an addition in the table "Where to add things", or an empty list if it has none. */
export function listPlaces(addition: string): string[] {
  const lines = readFileSync(resolve(root, 'CONTRIBUTING.md'), 'utf8').split('\n');
  const row = lines.find((line) => line.startsWith(`| ${addition} |`)) ?? '';
  return [...row.matchAll(/`([^`\s]+\/[^`\s]*)`/g)].map(([, path]) => path!);
}
