import { getRouteApi } from '@tanstack/react-router';
import { texts as all } from '../../../texts/settings.ts';
import { FilterChip } from '../../../ui/forms/filter-chip.tsx';
import { FilterSelect } from '../../../ui/forms/filter-select.tsx';
import { SearchField } from '../../../ui/forms/search-field.tsx';

const texts = all.audit;
const route = getRouteApi('/shell/settings/audit');
const periods = Object.keys(texts.periods) as (keyof typeof texts.periods)[];

type Props = { authors: string[]; toName: (author: string) => string };

/** The filters of the audit log. An entry sets the one of its target. */
export function AuditFilters({ authors, toName }: Props) {
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
      {target && <FilterChip label={texts.target} value={target} onRemove={() => set({ target: undefined })} />}
    </div>
  );
}
