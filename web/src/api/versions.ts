import { ApiProblem, type RecordChange } from './problem.ts';

/** A question to the user: somebody changed a record meanwhile. Should the change apply nevertheless? */
export type Conflict = { changes: readonly RecordChange[]; answer: (isAgain: boolean) => void };

const listeners = new Set<() => void>();
let waiting: readonly Conflict[] = [];

function change(next: readonly Conflict[]): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** The questions that wait for an answer. The first one is shown. */
export const conflicts = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  first: (): Conflict | undefined => waiting[0],
};

/** Shows what others changed and resolves to whether the user's change applies again. */
export const askAboutConflict = (changes: readonly RecordChange[]): Promise<boolean> =>
  new Promise((resolve) => {
    const conflict: Conflict = {
      changes,
      answer: (isAgain) => {
        change(waiting.filter((other) => other !== conflict));
        resolve(isAgain);
      },
    };
    change([...waiting, conflict]);
  });

/** Returns whether an error means that a record changed since the version that a change was based on. */
export const isStale = (error: unknown): error is ApiProblem & { stale: NonNullable<ApiProblem['stale']> } =>
  error instanceof ApiProblem && error.stale !== undefined;

/**
 * Sends a change with the version of the record that the user saw. If the record changed since, the user sees what changed and decides whether the
 * change applies again, to the record as it is then. Throws the problem otherwise.
 */
export async function sendVersion<Version extends string | number, Result>(
  seen: Version,
  send: (version: Version) => Promise<Result>,
): Promise<Result> {
  for (let version = seen; ;) {
    try {
      return await send(version);
    } catch (error) {
      if (!isStale(error) || error.stale.current === null) throw error;
      if (!(await askAboutConflict(error.stale.changes)))
        throw new ApiProblem({ ...error, detail: 'You kept what others changed.', cause: error });
      version = error.stale.current as Version;
    }
  }
}

/** A record with its version: when it changed last, or its ETag. */
export type Versioned = { updatedAt: string | null } | { etag: string };

/** Returns the `If-Match` of a record. */
export const toIfMatch = (record: Versioned): string => ('etag' in record ? record.etag : `"${record.updatedAt ?? 0}"`);

/** Like `sendVersion`, for a record whose version is its `updatedAt` or its ETag. `send` gets the header for `params`. */
export const sendIfMatch = <Result>(
  record: Versioned,
  send: (header: { 'If-Match': string }) => Promise<Result>,
): Promise<Result> => sendVersion(toIfMatch(record), (version) => send({ 'If-Match': version }));
