import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';

export type ArchiveWriter = {
  /** Adds an entry of `size` bytes. Waits while the destination is slower. */
  add: (name: string, size: number, chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) => Promise<void>;
};

/** Sends a tar archive to `write` while `fill` adds its entries. The archive ends only if `fill` succeeds. */
export async function writeArchive(
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
  fill: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  const tar = pack();
  const written = write(tar);
  // Ends the wait of an entry whose bytes can no longer be written.
  const broken = written.then(() => new Promise<never>(() => undefined));
  const filled = fill({
    add: (name, size, chunks) =>
      Promise.race([
        broken,
        pipeline(
          chunks,
          tar.entry({ name, size, mode: 0o600 }, () => undefined),
        ),
      ]),
  });
  try {
    await filled;
    tar.finalize();
  } catch (error) {
    tar.destroy(error as Error);
    await written.catch(() => undefined);
    throw error;
  }
  await written;
}
