import { GetObjectCommand, ListObjectsV2Command, NoSuchKey, type ListObjectsV2Output } from '@aws-sdk/client-s3';
import type { BucketAddress } from '../../platform/lib/storage/logs-url.ts';
import { openS3Client } from '../../platform/lib/storage/s3-client.ts';
import { isPastFolder, type LogFolder, type LogObject } from './log-folder.ts';

const triesMax = 4;

/** Opens a prefix of a bucket. Credentials come from where the AWS command line finds them. */
export function openBucket(address: BucketAddress): LogFolder {
  const { bucket, prefix } = address;
  const client = openS3Client(address, triesMax);
  async function* list(path: string, since: Date): AsyncGenerator<LogObject[]> {
    let token: string | undefined;
    do {
      const request = { Bucket: bucket, Prefix: `${prefix}${path}`, Delimiter: '/', ContinuationToken: token };
      const page = await client.send(new ListObjectsV2Command(request));
      yield listObjects(page, prefix).filter(({ modifiedAt }) => modifiedAt >= since);
      for (const { Prefix: inner } of page.CommonPrefixes ?? [])
        if (!isPastFolder(inner!, since)) yield* list(inner!.slice(prefix.length), since);
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }
  return {
    list: (since) => list('', since),
    async read(key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: `${prefix}${key}` }));
        return Buffer.from(await Body!.transformToByteArray());
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    close: () => client.destroy(),
  };
}

/** Returns the objects of a page without the empty ones that stand for folders. */
const listObjects = ({ Contents = [] }: ListObjectsV2Output, prefix: string): LogObject[] =>
  Contents.filter(({ Key }) => !Key!.endsWith('/')).map(({ Key, ETag, Size = 0, LastModified }) => ({
    key: Key!.slice(prefix.length),
    version: ETag ?? `${Size}`,
    bytes: Size,
    modifiedAt: LastModified ?? new Date(),
  }));
