import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { auditQuery, keysQuery, type AuditEntry } from '../../../api/access.ts';
import { useNow } from '../../../lib/now.ts';
import { texts as all } from '../../../texts/settings.ts';
import { EmptyState } from '../../../ui/states.tsx';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { Entry } from './audit-entry.tsx';
import { LoadMore } from '../../../ui/lists/load-more.tsx';
import { FilterChip } from '../../../ui/forms/filter-chip.tsx';
import { FilterSelect } from '../../../ui/forms/filter-select.tsx';
import { SearchField } from '../../../ui/forms/search-field.tsx';
import { texts as common } from '../../../texts/common.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { LastHours } from '../../../ui/time.tsx';

const texts = all.audit;
const route = getRouteApi('/shell/settings/audit');
const hourMs = 3_600_000;
const hours = { day: 24, week: 7 * 24, month: 30 * 24 };

/** The audit log. Its filters are in the address. */
export function AuditSection() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { actor, action, target, period } = search;
  const now = useNow();
  const from = period && findStart(period, now);
  const query = useInfiniteQuery(auditQuery({ actor, action, resourceId: target, from }));
  // Names of keys make the log readable. Without the permission to read them, their IDs are shown.
  const { data: keyPages } = useInfiniteQuery({ ...keysQuery, retry: false });
  const names = new Map(keyPages?.pages.flatMap(({ keys }) => keys).map(({ id, name }) => [id, name]));
  const toName = (author: string): string => names.get(author) ?? author;
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  const isFiltered = Object.keys(search).length > 0;
  return (
    <SettingsSection title={all.sections.audit} description={texts.description}>
      <AuditFilters authors={findAuthors(entries, [...names.keys()])} toName={toName} />
      <Loaded query={query}>
        {() =>
          entries.length === 0 ? (
            <EmptyState
              title={isFiltered ? texts.noneFound : texts.none}
              action={
                isFiltered ? (
                  <Button onClick={() => void navigate({ search: {} })}>{common.nextStep.clear}</Button>
                ) : (
                  <Link to="/settings/keys" className={buttonClass('primary')}>
                    {common.nextStep.keys}
                  </Link>
                )
              }
            />
          ) : (
            <>
              <ul aria-label={all.sections.audit} className="divide-y rounded-control border text-12">
                {entries.map((entry) => (
                  <Entry key={entry.id} entry={entry} author={toName(entry.actor ?? entry.keyId ?? texts.service)} />
                ))}
              </ul>
              <LoadMore query={query} />
            </>
          )
        }
      </Loaded>
    </SettingsSection>
  );
}

/** The authors one can filter by: those of the shown entries, and all keys. */
const findAuthors = (entries: AuditEntry[], keyIds: string[]): string[] => [
  ...new Set([...entries.flatMap(({ actor, keyId }) => actor ?? keyId ?? []), ...keyIds]),
];

/** Returns when a period began, to the hour, so that the request stays the same while the page is open. */
const findStart = (period: keyof typeof hours, now: number): string =>
  new Date(Math.floor(now / hourMs - hours[period]) * hourMs).toISOString();

const periods = Object.keys(texts.periods) as (keyof typeof texts.periods)[];

type Props = { authors: string[]; toName: (author: string) => string };

/** The filters of the audit log. An entry sets the one of its target. */
function AuditFilters({ authors, toName }: Props) {
  const { actor, action, target, period } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (change: Partial<ReturnType<typeof route.useSearch>>): void =>
    void navigate({ search: (search) => ({ ...search, ...change }), replace: true });
  const known = actor === undefined || authors.includes(actor) ? authors : [actor, ...authors];
  return (
    <div className="flex flex-wrap gap-2">
      <SearchField label={texts.findAction} value={action} onChange={(next) => set({ action: next })} />
      <FilterSelect
        label={texts.who}
        value={actor}
        options={known.map((value) => ({ value, label: toName(value) }))}
        onChange={(next) => set({ actor: next })}
      />
      <FilterSelect
        label={texts.period}
        value={period}
        options={periods.map((value) => ({ value, label: texts.periods[value] }))}
        onChange={(next) => set({ period: next })}
      />
      {period && <LastHours hours={hours[period]} />}
      {target && <FilterChip label={texts.target} value={target} onRemove={() => set({ target: undefined })} />}
    </div>
  );
}
