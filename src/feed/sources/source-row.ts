import type { Tlp } from '../model/vocabulary.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { SourceKind } from '../formats/registry.ts';

/** A row of feed_sources. `include`, `exclude`, `cursor` and `last_result` are JSON text. */
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
  created_at: Date;
  updated_at: Date;
};

/** Where an item comes from: a source, or an organization that posted it; then `id`, `kind` and `url` are null. */
export type Origin = Pick<
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

/** What is remembered of a source's last good pull. */
export type Cursor = {
  /** Hash of its bytes, and how many records they held. */
  bytes?: string;
  records?: number;
  /** The newest release date that a catalogue had. */
  newest?: string;
  /** What a format that collects several documents goes on from. */
  collected?: unknown;
  /** The usual distance between news, and since when there has been none for too long. */
  usualMs?: number | undefined;
  silentSince?: string | undefined;
  /** How it was read; a newer way reads the same bytes again. */
  reading?: string;
};
