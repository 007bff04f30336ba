type Path = readonly (string | number)[];

/** A problem of a rule at a path of its document, for example `['detection', 'selection', 'Image|re']`. */
export class SigmaError extends Error {
  readonly path: Path;
  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/** Thrown for what a rule may say but a target, or this converter, cannot express. */
export class UnsupportedError extends Error {}
