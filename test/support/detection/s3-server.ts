import { atFileEnd } from '../at-file-end.ts';
import { serveS3, type S3Server } from './serve-s3.ts';

export { s3Credentials, s3Faults } from './serve-s3.ts';

/** Starts object storage with one bucket for a test file and closes it afterwards. */
export async function startS3Server(): Promise<S3Server> {
  const { close, ...server } = await serveS3();
  atFileEnd(close);
  return server;
}
