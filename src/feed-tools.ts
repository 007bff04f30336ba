import { inOrg } from './db/db.ts';
import type { Deps } from './deps.ts';
import { refangWords } from './feed/indicator-forms.ts';
import { lookUpIndicator } from './feed/indicators.ts';
import { findByWords } from './feed/search-store.ts';
import { findTechnique } from './ingest/knowledge/attack.ts';
import type { OrgId } from './lib/org-id.ts';
import type { FeedTools } from './tools/sources.ts';

/** What the tools of agents may ask of the feed and of the ATT&CK knowledge that it ships. */
export function feedToolsOf(deps: Pick<Deps, 'db' | 'clock'>): (orgId: OrgId) => FeedTools {
  return (orgId) => ({
    searchFeed: async (text, limit) => ({
      items: await inOrg(deps.db, orgId, (tx) => findByWords(tx, refangWords(text), limit)),
    }),
    lookupIndicator: (value) => lookUpIndicator(deps, { orgId }, value),
    lookupTechnique: findTechnique,
  });
}
