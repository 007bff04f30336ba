import { useQuery } from '@tanstack/react-query';
import { builtInAgentsQuery, changeAgent } from '../../api/agents.ts';
import { texts } from '../../texts/suggestions.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useChange } from '../../ui/forms/use-change.ts';

/** The purpose of the inbox, and a way to fill it: the agent behind it has no schedule until somebody sets one. */
export function NoSuggestions() {
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
