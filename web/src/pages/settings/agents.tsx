import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { builtInAgentsQuery, changeAgent, type Agent, type AgentChanges } from '../../api/agents.ts';
import { texts as all } from '../../texts/settings.ts';
import { useChange } from '../../ui/forms/use-change.ts';
import { Loaded, Row, Rows } from '../../ui/lists/rows.tsx';
import { SettingsSection } from './section.tsx';

const texts = all.models;
type Schedule = keyof typeof texts.schedules;

function readSchedule({ cronSchedule, detectionCadence, enabled }: Agent): Schedule {
  if (!enabled || cronSchedule === null) return 'off';
  return detectionCadence ?? 'custom';
}

/** The agents that read the feed, and when they do. */
export function Agents() {
  const query = useQuery(builtInAgentsQuery);
  const { mutate: change, isPending } = useChange({
    change: ({ agent, body }: { agent: Agent; body: AgentChanges }) => changeAgent(agent, body),
    refresh: [builtInAgentsQuery.queryKey],
    done: ({ name }) => texts.agentSaved(name),
    failed: texts.notSaved,
  });
  return (
    <SettingsSection title={texts.agents} description={texts.agentsBody}>
      <Loaded query={query}>
        {({ agents }) => (
          <Rows label={texts.agents}>
            {agents.map((agent) => (
              <Row
                key={agent.id}
                title={agent.name}
                detail={agent.description}
                actions={
                  <ScheduleSelect
                    name={agent.name}
                    value={readSchedule(agent)}
                    isDisabled={isPending}
                    onChange={(schedule) =>
                      change({
                        agent,
                        body:
                          schedule === 'off'
                            ? { enabled: false }
                            : { enabled: true, detectionCadence: schedule, customCronSchedule: null },
                      })
                    }
                  />
                }
              />
            ))}
          </Rows>
        )}
      </Loaded>
    </SettingsSection>
  );
}

type SelectProps = {
  name: string;
  value: Schedule;
  isDisabled: boolean;
  onChange: (schedule: Exclude<Schedule, 'custom'>) => void;
};

function ScheduleSelect({ name, value, isDisabled, onChange }: SelectProps) {
  const id = useId();
  return (
    <>
      <label htmlFor={id} className="sr-only">
        {`${texts.schedule}: ${name}`}
      </label>
      <select
        id={id}
        value={value}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.value as Exclude<Schedule, 'custom'>)}
        className="h-7 rounded-control border border-line-strong bg-surface px-2"
      >
        {Object.entries(texts.schedules).map(([schedule, label]) =>
          schedule === 'custom' && value !== 'custom' ? null : (
            <option key={schedule} value={schedule} disabled={schedule === 'custom'}>
              {label}
            </option>
          ),
        )}
      </select>
    </>
  );
}
