import { inOrg, type Db } from '../platform/db/db.ts';
import { lookUpIndicator, lookUpIndicators } from '../feed/indicators/look-up-indicators.ts';
import { searchItems } from '../feed/items/search/search.store.ts';
import { findTechnique } from '../feed/reference-data/attack.ts';
import type { Clock } from '../platform/lib/clock.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import type { FeedTools } from '../detection/tools/tool-sources.ts';

const itemsMax = 3;

/** Creates the feed and ATT&CK lookups that detection tools use, so that the detection half need not import the feed. */
export function createFeedTools(deps: { db: Db; clock: Clock }): (orgId: OrgId) => FeedTools {
  return (orgId) => ({
    searchFeed: async (text, limit) => ({
      items: await inOrg(deps.db, orgId, (tx) => searchItems(tx, text, limit)),
    }),
    lookupIndicator: (value) => lookUpIndicator(deps, { orgId }, value),
    lookupTechnique: findTechnique,
    findKnownIndicators: async (values) => {
      const { indicators } = await lookUpIndicators(deps, { orgId }, { values });
      return indicators
        .filter(({ items }) => items.length > 0)
        .map(({ value, items }) => ({ indicator: value, items: items.slice(0, itemsMax).map(({ title }) => title) }));
    },
  });
}
