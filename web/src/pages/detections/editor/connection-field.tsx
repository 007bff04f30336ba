import { useQuery } from '@tanstack/react-query';
import { connectionsQuery, type Connection } from '../../../api/connections.ts';
import { texts } from '../../../texts/editor.ts';
import { Field, SelectInput } from '../../../ui/forms/form.tsx';
import type { Draft, FormProps } from './draft.ts';

/** Returns the connection of a definition, undefined until the connections are loaded. */
export function useConnection(draft: Draft): Connection | undefined {
  const { data: connections } = useQuery(connectionsQuery);
  return connections && findConnection(draft, connections);
}

/** The SIEM whose logs are read. */
export function ConnectionField({ draft, onChange, problemOf }: FormProps) {
  const { data: connections } = useQuery(connectionsQuery);
  const connection = useConnection(draft);
  return (
    <Field label={texts.fields.connectionId} error={problemOf('connectionId')}>
      {(control) => (
        <SelectInput
          {...control}
          value={connection?.id ?? ''}
          onChange={(event) => onChange({ connectionId: event.target.value })}
        >
          {connections?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectInput>
      )}
    </Field>
  );
}

/** Returns the connection that the definition names, else the only one of its kind of SIEM, else the embedded store. */
function findConnection(draft: Draft, connections: readonly Connection[]): Connection | undefined {
  const kind = draft.siemType?.toLowerCase() ?? 'local';
  const ofKind = connections.filter((one) => one.kind === kind);
  const named = connections.find(({ id }) => id === draft.connectionId);
  return named ?? (ofKind.length === 1 ? ofKind[0] : undefined);
}
