import type { Agent as HttpsAgent } from 'node:https';
import { S3Client } from '@aws-sdk/client-s3';
import { createOutboundAgent } from '../outbound-http/proxy.ts';
import type { BucketAddress } from './logs-url.ts';

const ignore = (): void => undefined;
const silentLogger = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Opens a client for the server of a bucket, which tries every request `triesMax` times. Credentials come from where the AWS command line finds them. */
export function openS3Client({ endpoint, region }: BucketAddress, triesMax: number): S3Client {
  const agent = createOutboundAgent();
  return new S3Client({
    ...(region === undefined && endpoint !== undefined ? { region: 'us-east-1' } : {}),
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // Other servers than AWS may not know the checksums that the client adds to streams. Ours are in the database.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: triesMax,
    // The client would print warnings about tries. The callers report failures.
    logger: silentLogger,
    requestHandler: {
      connectionTimeout: 5_000,
      socketTimeout: 30_000,
      ...(agent ? { httpAgent: agent, httpsAgent: agent as HttpsAgent } : {}),
    },
  });
}
