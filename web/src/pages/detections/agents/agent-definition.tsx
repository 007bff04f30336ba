import { changeAgent, type Agent } from '../../../api/agents.ts';
import { EditedDefinition } from '../editor/edited-definition.tsx';
import { AgentForm } from './agent-form.tsx';

/** Edits the definition of a response agent. Only what changed is sent. */
export default function AgentDefinition({ agent }: { agent: Agent }) {
  return (
    <EditedDefinition
      stored={agent}
      refresh={['agents']}
      save={(seen, changes) => changeAgent(seen, changes)}
      renderForm={(form) => <AgentForm {...form} />}
    />
  );
}
