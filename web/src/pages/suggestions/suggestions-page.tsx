import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { dismissedQuery, suggestionsQuery, type Suggestion } from '../../api/suggestions.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/suggestions.ts';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx';
import { SuggestionPanel } from './suggestion-panel.tsx';
import { LoadMore } from '../../ui/lists/load-more.tsx';
import { builtInAgentsQuery, changeAgent } from '../../api/agents.ts';
import { Button } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { classes } from '../../lib/text.ts';
import { useCategoryLabel } from '../../ui/labels/category-label.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { texts as common } from '../../texts/common.ts';

const route = getRouteApi('/shell/suggestions');

/** The inbox of suggested detections, and the dismissed ones. */
export function SuggestionsPage() {
  const { view, suggestion: openId } = route.useSearch();
  const navigate = route.useNavigate();
  const isDismissed = view === 'dismissed';
  const inbox = useInfiniteQuery({ ...suggestionsQuery, enabled: !isDismissed });
  const dismissed = useQuery({ ...dismissedQuery, enabled: isDismissed });
  const query = isDismissed ? dismissed : inbox;
  const suggestions: Suggestion[] | undefined = isDismissed
    ? dismissed.data?.suggestions
    : inbox.data?.pages.flatMap((page) => page.suggestions);
  const index = suggestions?.findIndex(({ id }) => id === openId) ?? -1;
  const opened = suggestions?.[index];

  const open = (id: string | undefined): void =>
    void navigate({
      search: (search) => ({ ...search, suggestion: id }),
      replace: openId !== undefined,
      resetScroll: false,
    });
  /** After a decision the next one opens, so that the inbox can be emptied without the mouse. */
  const openNext = (): void => open((suggestions?.[index + 1] ?? suggestions?.[index - 1])?.id);
  useOpenKeys({ rows: suggestions, index, onOpen: ({ id }) => open(id), onClose: () => open(undefined) });

  return (
    <>
      <PageHeader title={texts.title}>
        <FilterSelect
          label={texts.views.label}
          value={view}
          options={[{ value: 'dismissed', label: texts.views.dismissed }]}
          onChange={(next) => void navigate({ search: next ? { view: next } : {} })}
        />
      </PageHeader>
      <ListAndPanel
        list={
          query.error && !suggestions ? (
            <ErrorState error={query.error} onRetry={() => void query.refetch()} />
          ) : suggestions === undefined ? (
            <ListSkeleton />
          ) : suggestions.length === 0 ? (
            isDismissed ? (
              <EmptyState
                title={texts.empty.dismissed}
                action={<Button onClick={() => void navigate({ search: {} })}>{common.nextStep.open}</Button>}
              />
            ) : (
              <NoSuggestions />
            )
          ) : (
            <div className="h-full overflow-y-auto">
              <div role="listbox" aria-label={texts.title}>
                {suggestions.map((suggestion, at) => (
                  <SuggestionRow
                    key={suggestion.id}
                    suggestion={suggestion}
                    isSelected={suggestion.id === openId}
                    isTabStop={at === Math.max(0, index)}
                    onOpen={() => open(suggestion.id)}
                  />
                ))}
              </div>
              {!isDismissed && <LoadMore query={inbox} className="m-2" />}
            </div>
          )
        }
        panel={
          opened ? (
            <SuggestionPanel
              key={`${opened.id} ${opened.updatedAt}`}
              suggestion={opened}
              onDecided={openNext}
              onClose={() => open(undefined)}
            />
          ) : null
        }
      />
    </>
  );
}

function ListSkeleton() {
  return ['w-2/5', 'w-1/3', 'w-1/2', 'w-1/4', 'w-2/5'].map((width, row) => (
    <div key={row} className="flex h-13 flex-col justify-center gap-2 border-b px-4">
      <Skeleton className={`h-3 ${width}`} />
      <Skeleton className="h-2.5 w-1/4" />
    </div>
  ));
}

/** The purpose of the inbox, and a way to fill it: the agent behind it has no schedule until somebody sets one. */
function NoSuggestions() {
  const { data } = useQuery(builtInAgentsQuery);
  const agent = data?.agents.find(({ builtInAgentType }) => builtInAgentType === 'threat-research');
  const isOff = agent !== undefined && (!agent.enabled || agent.cronSchedule === null);
  const { mutate: turnOn, isPending } = useChange({
    change: (seen: Parameters<typeof changeAgent>[0]) =>
      changeAgent(seen, { enabled: true, detectionCadence: 'daily' }),
    refresh: [builtInAgentsQuery.queryKey],
    done: () => texts.empty.turnedOn,
    failed: texts.empty.failed,
  });
  return (
    <EmptyState
      title={texts.empty.title}
      action={
        isOff && (
          <Button kind="primary" disabled={isPending} onClick={() => turnOn(agent)}>
            {texts.empty.turnOn}
          </Button>
        )
      }
    >
      <p>{texts.empty.body}</p>
      {agent && !isOff && <p className="pt-2">{texts.empty.waiting}</p>}
    </EmptyState>
  );
}

type Props = { suggestion: Suggestion; isSelected: boolean; isTabStop: boolean; onOpen: () => void };

function SuggestionRow({ suggestion, isSelected, isTabStop, onOpen }: Props) {
  const { name, technique, detectionCategory, estimate, createdAt, deletedAt, dismissReason } = suggestion;
  const labelOf = useCategoryLabel();
  const about = [technique, detectionCategory && labelOf(detectionCategory)].filter(Boolean).join(' · ');
  return (
    <button
      role="option"
      aria-selected={isSelected}
      tabIndex={isTabStop ? 0 : -1}
      onClick={onOpen}
      className={classes(
        'grid h-13 w-full grid-cols-[1fr_auto] items-center gap-x-3 border-b pr-row-end pl-4 text-left -outline-offset-2',
        isSelected ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <span className="min-w-0">
        <span className="block truncate font-strong">{name}</span>
        <span className="block truncate text-12 text-muted">
          {dismissReason ? `${texts.reasons[dismissReason]} · ${about}` : about}
        </span>
      </span>
      <span className="flex flex-col items-end gap-px text-12 text-muted">
        <RelativeTime time={deletedAt ?? createdAt} />
        <span className="tabular">{estimate ? texts.perDay(estimate.hitsPerDay) : texts.noEstimate}</span>
      </span>
    </button>
  );
}
