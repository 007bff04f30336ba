import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { newDataDir } from '../../../test/support/harness.ts';
import { readShipperBody } from './read-shipper-body.ts';

test.each(['otlp', 'loki'] as const)(
  'rejects a body of %s that is larger than 16 MiB when it is decompressed',
  async (kind) => {
    const body = gzipSync(Buffer.alloc(16 * 1024 * 1024 + 1, ' '));
    const task = { format: { kind, encoding: 'json' } as const, folder: newDataDir(), body, nowMicros: 0 };
    await expect(readShipperBody(task)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('larger than 16777216 bytes'),
    });
  },
);
