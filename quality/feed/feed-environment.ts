import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withInProcessProgram, type InProcessProgram } from '../../test/support/program-environment.ts';
import type { PullResult } from '../../src/feed/ingestion/pull-plan.ts';
import type { SourceKind } from '../../src/feed/formats/registry.ts';
import { createSource } from '../../src/feed/sources/update-source.ts';
import { pullSourceNow } from '../../src/feed/sources/pull/start-pulls.ts';
import { operatorOf } from '../../src/platform/http/caller.ts';

export type FeedEnvironment = InProcessProgram & {
  /** Creates a directory source. Each pull first writes the given files to its directory. */
  createSource: (kind: SourceKind) => Promise<(files: Record<string, Buffer>) => Promise<PullResult>>;
  /** Creates a directory source with files. Each pull reads what is in its directory, so that its time includes no writing of files. */
  createSourceOf: (kind: SourceKind, files: Record<string, Buffer>) => Promise<() => Promise<PullResult>>;
};

/** Runs `work` with a feed on an embedded database that is filled from files through the whole pipeline. */
export function withFeedEnvironment<T>(work: (place: FeedEnvironment) => Promise<T>): Promise<T> {
  return withInProcessProgram(async (inside) => {
    const caller = operatorOf(inside.orgId);
    const made: string[] = [];
    const createDirectorySource = async (kind: SourceKind) => {
      const folder = mkdtempSync(join(tmpdir(), 'tocsin-quality-'));
      made.push(folder);
      const { id } = await createSource(inside.deps, caller, { kind, name: kind, url: pathToFileURL(folder).href });
      return {
        write: (files: Record<string, Buffer>) => {
          for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
        },
        pull: () => pullSourceNow(inside.deps, caller, id),
      };
    };
    try {
      return await work({
        ...inside,
        createSource: async (kind) => {
          const { write, pull } = await createDirectorySource(kind);
          return (files) => {
            write(files);
            return pull();
          };
        },
        createSourceOf: async (kind, files) => {
          const { write, pull } = await createDirectorySource(kind);
          write(files);
          return pull;
        },
      });
    } finally {
      for (const folder of made) rmSync(folder, { recursive: true, force: true });
    }
  });
}

export const formatPullResult = ({ added, corrected, retracted, unchanged, error }: PullResult): string =>
  error ? 'bad' : `${added} added, ${corrected} corrected, ${retracted} retracted, ${unchanged} unchanged`;
