import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { AgentSettings, ChangeAgentSettings, changeAgentSettings, getAgentSettings } from './agent-settings.ts';

export function agentSettingsRoutes(app: App, deps: Parameters<typeof changeAgentSettings>[0]): void {
  const route = apiRoutes(app, { tag: 'tools', scope: 'detections:read' });
  route(
    'GET /api/agent-settings',
    {
      operationId: 'getAgentSettings',
      summary:
        'Get the default tools of new detections, the data that is kept from models, and the share of audited dismissals',
      returns: AgentSettings,
      hasEtag: true,
    },
    ({ caller }) => getAgentSettings(deps, caller),
  );
  route(
    'PUT /api/agent-settings',
    {
      operationId: 'changeAgentSettings',
      summary:
        'Change the default tools of new detections, the data that is kept from models, or the share of audited dismissals',
      description: 'Settings that the body leaves out stay as they are. They apply to the next verdict.',
      scope: 'connections:admin',
      acceptsIfMatch: true,
      body: ChangeAgentSettings,
      returns: AgentSettings,
      hasEtag: true,
    },
    ({ caller, body, ifMatch }) => changeAgentSettings(deps, caller, body, ifMatch),
  );
}
