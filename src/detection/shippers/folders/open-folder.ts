import { openDirectory } from './directory-folder.ts';
import type { FolderSettings } from './folder-settings.ts';
import type { LogFolder } from './log-folder.ts';

/** Opens the folder of a location. The client of buckets is loaded only where it is used, because it is large. */
export async function openFolder(location: FolderSettings['location']): Promise<LogFolder> {
  if ('path' in location) return openDirectory(location.path);
  return (await import('./bucket-folder.ts')).openBucket(location.bucket);
}
