import type { Deps } from '../../app/deps.ts';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { listSaidNow } from '../items/overrides/apply-overrides.ts';
import { fullHour } from '../model/expiry.ts';
import { canonicalForms } from '../model/indicator-forms.ts';
import type { IndicatorLookup, IndicatorLookups, LookUpIndicators } from './indicators.schema.ts';
import { standingOf, statementsOf } from './indicator-standing.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { findNaming } from './indicator-counts.store.ts';
import { termValue } from '../model/terms.ts';

const [itemsMax, itemsOfManyMax] = [50, 10];

type LookupDeps = Pick<Deps, 'db' | 'clock'>;
type Reader = { orgId: OrgId };

/** Which items that the caller sees name a value, whatever way it is written, and how it stands by what they say. */
export function lookUpIndicator(deps: LookupDeps, { orgId }: Reader, value: string): Promise<IndicatorLookup> {
  const hour = fullHour(deps.clock());
  return inOrg(deps.db, orgId, async (tx) => {
    return lookUp(tx, value, { hour, limit: itemsMax });
  });
}

/** The same for up to a hundred values at once, in their order. */
export function lookUpIndicators(
  deps: LookupDeps,
  { orgId }: Reader,
  { values }: LookUpIndicators,
): Promise<IndicatorLookups> {
  const hour = fullHour(deps.clock());
  return inOrg(deps.db, orgId, async (tx) => {
    const indicators: IndicatorLookup[] = [];
    for (const value of values) indicators.push(await lookUp(tx, value, { hour, limit: itemsOfManyMax }));
    return { indicators };
  });
}

async function lookUp(
  tx: Tx,
  value: string,
  { hour, limit }: { hour: number; limit: number },
): Promise<IndicatorLookup> {
  const forms = canonicalForms(value);
  const termByForm = new Map(forms.map(({ form }) => [form, termValue('indicator', form)]));
  const named = [...termByForm].map(([form, term]) => ({ form, term }));
  const { counts, docs } = await findNaming(tx, { forms: named, hour }, limit);
  const terms = new Set(termByForm.values());
  const items = docs.map((doc) => JSON.parse(doc) as FeedItem);
  const ids = items.map(({ id }) => id);
  const said = await listSaidNow(tx, ids);
  const statements = items.flatMap((item) => statementsOf(item, said.get(item.id), { forms: terms, hour }));
  const known =
    statements[0] ??
    forms.filter(({ isStrict }) => isStrict).map(({ form, type }) => ({ normalizedValue: form, type }))[0];
  return {
    value,
    ...(known ? { normalizedValue: known.normalizedValue, type: known.type } : {}),
    ...standingOf(counts),
    items: statements.map(({ normalizedValue: _shared, ...statement }) => statement),
  };
}
