/** A log file. `key` is its path below the folder. `version` changes with its content. */
export type LogObject = { key: string; version: string; bytes: number; modifiedAt: Date };

/** A folder of log files that others write. */
export type LogFolder = {
  /** Lists the objects that were modified since then, in pages. Skips folders of earlier days. */
  list: (since: Date) => AsyncIterable<LogObject[]>;
  /** Returns undefined if the object no longer exists. */
  read: (key: string) => Promise<Buffer | undefined>;
  close: () => void;
};

const dayMs = 86_400_000;
/** The end of a path such as `2026/11/23/` or `year=2026/month=11/`. */
const datedPath = /(?:^|\/)(?:year=)?(20\d\d)\/(?:(?:month=)?(\d\d)\/(?:(?:day=)?(\d\d)\/)?)?$/;

/**
 * Returns whether a path is a folder of a year, month or day that ended more than a day before `since`. The day allows for objects that are
 * written late.
 */
export function isPastFolder(path: string, since: Date): boolean {
  const [, year, month, day] = datedPath.exec(path) ?? [];
  if (year === undefined) return false;
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const end = day ? Date.UTC(y, m - 1, d + 1) : month ? Date.UTC(y, m) : Date.UTC(y + 1, 0);
  return end + dayMs <= since.getTime();
}
