import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { casesQuery, type CaseFilter, type CaseState, type ReviewCase, decideCase } from '../../api/review.ts';
import { useOpenEntry } from '../../lib/list-keys.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { HitLinks } from '../../shell/section-links.tsx';
import { texts } from '../../texts/review.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { FilterChip } from '../../ui/forms/filter-chip.tsx';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { ReasonForm } from '../../ui/forms/reason-form.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { EntryList, type Entry } from '../../ui/lists/entry-list.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { OpenPanel } from '../../ui/lists/open-panel.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { CaseView } from './case-view.tsx';
import { texts as common } from '../../texts/common.ts';

const route = getRouteApi('/shell/review');

const states = (Object.keys(texts.states) as CaseState[]).map((value) => ({ value, label: texts.states[value] }));
const kinds = (Object.keys(texts.kinds) as ReviewCase['kind'][]).map((value) => ({ value, label: texts.kinds[value] }));

/** Cases that are no hit: a list, and the open one beside it, with its decision. */
export function ReviewPage() {
  const { case: openId, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (id: string | undefined): void =>
    void navigate({ search: (search) => ({ ...search, case: id }), replace: openId !== undefined, resetScroll: false });
  const change = (next: CaseFilter): void =>
    void navigate({ search: (search) => ({ ...search, case: undefined, ...next }) });
  const query = useInfiniteQuery(casesQuery(filter));
  const cases = useMemo(() => query.data?.pages.flatMap((page) => page.cases), [query.data]);
  const opened = useOpenEntry(cases, openId, open);
  return (
    <>
      <PageHeader title={texts.title} links={<HitLinks />}>
        <FilterSelect
          label={texts.filters.state}
          value={filter.state}
          options={states}
          onChange={(state) => change({ state })}
        />
        <FilterSelect
          label={texts.filters.kind}
          value={filter.kind}
          options={kinds}
          onChange={(kind) => change({ kind })}
        />
        {filter.detection && (
          <FilterChip
            label={texts.detection}
            value={cases?.[0]?.detectionName ?? '…'}
            onRemove={() => change({ detection: undefined })}
          />
        )}
        {filter.entity && (
          <FilterChip label={texts.entity} value={filter.entity} onRemove={() => change({ entity: undefined })} />
        )}
      </PageHeader>
      <ListAndPanel
        list={
          <EntryList
            label={texts.title}
            query={query}
            entries={cases?.map(toEntry)}
            openId={openId}
            onOpen={open}
            empty={
              Object.values(filter).some(Boolean)
                ? {
                    title: texts.empty.filtered,
                    action: <Button onClick={() => void navigate({ search: {} })}>{common.nextStep.clear}</Button>,
                  }
                : {
                    title: texts.empty.title,
                    children: texts.empty.body,
                    action: (
                      <Link to="/hits" className={buttonClass('primary')}>
                        {common.nextStep.hits}
                      </Link>
                    ),
                  }
            }
          />
        }
        panel={
          openId === undefined ? null : (
            <OpenPanel
              id={openId}
              actions={opened?.state === 'open' && <DecisionBar key={openId} one={opened} />}
              onClose={() => open(undefined)}
            >
              <CaseView id={openId} />
            </OpenPanel>
          )
        }
      />
    </>
  );
}

const toEntry = (one: ReviewCase): Entry => ({
  id: one.id,
  icon: <SeverityMark severity={one.severity} />,
  title: one.headline,
  detail: `${one.openQuestion ?? one.summary} · ${one.detectionName}`,
  end: [<RelativeTime time={one.openedAt} />, one.state === 'open' ? texts.kinds[one.kind] : texts.states[one.state]],
});

const decisions = ['raise', 'dismiss'] as const;
type Decision = (typeof decisions)[number];

/** The two decisions about an open case. Each asks for a reason. */
function DecisionBar({ one }: { one: Pick<ReviewCase, 'id'> }) {
  const [decision, setDecision] = useState<Decision | null>(null);
  if (decision) return <DecisionForm id={one.id} decision={decision} onClose={() => setDecision(null)} />;
  return (
    <div className="flex flex-wrap gap-1">
      {decisions.map((value) => (
        <Button key={value} onClick={() => setDecision(value)}>
          {texts[value]}
        </Button>
      ))}
    </div>
  );
}

type FormProps = { id: string; decision: Decision; onClose: () => void };

function DecisionForm({ id, decision, onClose }: FormProps) {
  const { mutateAsync, isPending } = useChange({
    change: (reason: string) => decideCase(id, { decision, reason }),
    refresh: [['review'], ['hits', 'list'], ['overview']],
    done: ({ state }) => (state === 'raised' ? texts.raised : texts.dismissed),
    failed: texts.failed,
  });
  return (
    <div className="grow">
      <ReasonForm
        subject={`case ${id}`}
        placeholder={texts.reason}
        action={texts[decision]}
        isRequired
        isPending={isPending}
        onSave={(reason) =>
          mutateAsync(reason).then(
            () => {
              onClose();
              return true;
            },
            () => false,
          )
        }
        onCancel={onClose}
      />
    </div>
  );
}
