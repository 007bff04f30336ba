import type { Db } from './db/db.ts';
import { findByIndicator, searchTitles } from './feed/tool-lookups.ts';
import { findTechnique } from './ingest/knowledge/attack.ts';
import type { OrgId } from './lib/org-id.ts';
import type { FeedTools } from './tools/sources.ts';

/** What the tools of agents may ask of the feed and of the ATT&CK knowledge that it ships. */
export function feedToolsOf(db: Db): (orgId: OrgId) => FeedTools {
  return (orgId) => ({
    searchFeed: async (text, limit) => ({ items: await searchTitles(db, orgId, { text, limit }) }),
    lookupIndicator: async (value) => ({ items: await findByIndicator(db, orgId, value) }),
    lookupTechnique: findTechnique,
  });
}
