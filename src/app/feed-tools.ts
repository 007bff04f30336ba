import { inOrg } from '../platform/db/db.ts';
import type { Deps } from './deps.ts';
import { refangWords } from '../feed/model/indicator-forms.ts';
import { lookUpIndicator } from '../feed/indicators/look-up-indicators.ts';
import { findByWords } from '../feed/items/search/search.store.ts';
import { findTechnique } from '../feed/reference-data/attack.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import type { FeedTools } from '../detection/tools/tool-sources.ts';

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
