import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Hand } from 'lucide-react';
import { useMemo } from 'react';
import { agentQuery, callsQuery, type AgentCall, type CallFilter, type CallState } from '../../api/agents.ts';
import { useOpenEntry } from '../../lib/list-keys.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { HitLinks } from '../../shell/section-links.tsx';
import { nameCall, texts as all } from '../../texts/agents.ts';
import { CallActions, CallView } from '../../ui/agents/call-view.tsx';
import { FilterChip } from '../../ui/forms/filter-chip.tsx';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { EntryList, type Entry } from '../../ui/lists/entry-list.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { OpenPanel } from '../../ui/lists/open-panel.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { texts as common } from '../../texts/common.ts';
import { Button, buttonClass } from '../../ui/button.tsx';

const route = getRouteApi('/shell/approvals');
const texts = all.calls;
const states = (Object.keys(texts.states) as CallState[]).map((value) => ({ value, label: texts.states[value] }));

/** What agents would change: those that wait for a person unless the address has another state, and the open one beside the list, with its decision. */
export function ApprovalsPage() {
  const { call: openId, agent, state } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (id: string | undefined): void =>
    void navigate({ search: (search) => ({ ...search, call: id }), replace: openId !== undefined, resetScroll: false });
  const change = (next: { state?: CallState | undefined; agent?: undefined }): void =>
    void navigate({ search: (search) => ({ ...search, call: undefined, ...next }) });
  const filter: CallFilter = { state: state ?? 'waiting', ...(agent && { agentId: agent }) };
  const { data: filtered } = useQuery({ ...agentQuery(agent ?? ''), enabled: agent !== undefined });
  const query = useInfiniteQuery(callsQuery(filter));
  const calls = useMemo(() => query.data?.pages.flatMap((page) => page.calls), [query.data]);
  const opened = useOpenEntry(calls, openId, open);
  return (
    <>
      <PageHeader title={texts.title} links={<HitLinks />}>
        <FilterSelect
          label={texts.filters.state}
          value={state}
          options={states}
          onChange={(next) => change({ state: next })}
        />
        {agent && (
          <FilterChip label={texts.agent} value={filtered?.name ?? '…'} onRemove={() => change({ agent: undefined })} />
        )}
      </PageHeader>
      <ListAndPanel
        list={
          <EntryList
            label={texts.title}
            query={query}
            entries={calls?.map(toEntry)}
            openId={openId}
            onOpen={open}
            empty={
              agent || state
                ? {
                    title: texts.empty.filtered,
                    action: <Button onClick={() => void navigate({ search: {} })}>{common.nextStep.clear}</Button>,
                  }
                : {
                    title: texts.empty.title,
                    children: texts.empty.body,
                    action: (
                      <Link to="/agents" className={buttonClass('primary')}>
                        {common.nextStep.agents}
                      </Link>
                    ),
                  }
            }
          />
        }
        panel={
          opened ? (
            <OpenPanel id={opened.id} actions={<CallActions call={opened} />} onClose={() => open(undefined)}>
              <CallView call={opened} />
            </OpenPanel>
          ) : null
        }
      />
    </>
  );
}

const toEntry = (call: AgentCall): Entry => ({
  id: call.id,
  icon: <Hand className="size-3.5 text-muted" aria-hidden />,
  title: nameCall(call),
  detail: `${call.agentName} · ${call.reason || JSON.stringify(call.input)}`,
  end: [<RelativeTime time={call.createdAt} />, texts.states[call.state]],
});
