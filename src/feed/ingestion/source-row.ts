import type { OrgId } from '../../platform/lib/org-id.ts';
import type { SourceKind } from '../formats/registry.ts';
import type { Tlp } from '../model/vocabulary.ts';

/** A row of feed_sources. `include`, `exclude`, `sightings`, `cursor` and `last_result` are JSON text. */
export type SourceRow = {
  organization_id: OrgId;
  id: string;
  visibility: 'private' | 'shared';
  assigned_to: string[] | null;
  pool_id: string;
  kind: SourceKind;
  name: string;
  url: string;
  file_allowed: boolean;
  publisher: string | null;
  tlp: Tlp | null;
  license: string | null;
  reliability: number;
  schedule: string | null;
  enabled: boolean;
  include: string;
  exclude: string;
  etag: string | null;
  last_modified: string | null;
  cursor: string;
  next_pull_at: Date | null;
  worker: string | null;
  failures: number;
  last_pull_at: Date | null;
  last_success_at: Date | null;
  last_new_at: Date | null;
  last_error: string | null;
  last_result: string | null;
  sealed_auth: Buffer | null;
  sightings: string | null;
  sightings_error: string | null;
  created_at: Date;
  updated_at: Date;
};

export type SourceKey = Pick<SourceRow, 'organization_id' | 'id'>;

/** The origin of an item: a source, or the organization that posted it. In that case `id`, `kind` and `url` are null. */
export type ItemOrigin = Pick<
  SourceRow,
  | 'organization_id'
  | 'visibility'
  | 'pool_id'
  | 'name'
  | 'publisher'
  | 'tlp'
  | 'license'
  | 'reliability'
  | 'last_success_at'
> & { id: string | null; kind: SourceKind | null; url: string | null };

/** The state of a source after its last good pull, stored as JSON in `feed_sources.cursor`. */
export type PullCursor = {
  /** The hash of the documents and the number of records in them. */
  bytes?: string;
  records?: number;
  /** The latest release date of a catalog. */
  newest?: string;
  /** The state of a format that collects several documents. */
  collected?: unknown;
  /** The usual time between new items, and since when there have been none for too long (ISO text). */
  usualMs?: number | undefined;
  silentSince?: string | undefined;
  /** The reader revision of the pull. A newer revision reads unchanged documents again. */
  reading?: string;
  /** Whether records are missing because the quota of private items was reached. They are read again when it allows more. */
  isOverQuota?: boolean | undefined;
};
