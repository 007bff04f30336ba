import { useQuery } from '@tanstack/react-query';
import { agentSettingsQuery } from '../../../api/access.ts';
import { toolsQuery } from '../../../api/detection-parts.ts';

/** Returns the default tools of the organization, or else the tools that only read. */
export function useProposedTools(): string[] {
  const { data: settings } = useQuery(agentSettingsQuery);
  const { data: tools = [] } = useQuery(toolsQuery);
  if (!settings) return [];
  return settings.defaultToolNames ?? tools.filter(({ effect }) => effect === 'read').map(({ name }) => name);
}
