import { loadConfig } from '../../config.ts';
import { UsageError } from './failures.ts';

/** Returns the address of the service and the key for it. Throws a usage error without TOCSIN_API_KEY. */
export function readServiceAccess(): { url: string; key: string } {
  const { url, apiKey: key } = loadConfig();
  if (key === undefined)
    throw new UsageError(
      'Set TOCSIN_API_KEY to a key with detections:read and detections:write, and TOCSIN_URL to the address of the service.',
    );
  return { url, key };
}
