import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';

type Path = readonly (string | number)[];

/** A problem of a rule at a path of its document, for example `['detection', 'selection', 'Image|re']`. */
export class SigmaError extends Error {
  readonly path: Path;
  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/** Throws a SigmaError for a key that has no meaning. To ignore it would drop a condition of the rule. */
export function rejectUnknownKeys(map: Readonly<Record<string, unknown>>, known: readonly string[], path: Path): void {
  const unknown = Object.keys(map).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new SigmaError(
      [...path, unknown],
      `${path.join('.')} has the unknown key "${unknown}"${didYouMean(unknown, known)}`,
    );
}

/** Thrown for what a rule may say but a target, or this converter, cannot express. */
export class UnsupportedError extends Error {}
