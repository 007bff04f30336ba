import { useNavigate } from '@tanstack/react-router';
import { openIncident } from '../../api/incidents.ts';
import { texts } from '../../texts/incidents.ts';
import { Button } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';

/** Opens an incident from hits, and leads to it. */
export function OpenIncident({ hitIds }: { hitIds: string[] }) {
  const navigate = useNavigate();
  const { mutate, isPending } = useChange({
    change: () => openIncident(hitIds),
    refresh: [['hits'], ['incidents']],
    failed: texts.failed,
  });
  return (
    <Button
      kind="quiet"
      disabled={isPending}
      onClick={() =>
        mutate(undefined, { onSuccess: ({ id }) => void navigate({ to: '/incidents/$id', params: { id } }) })
      }
    >
      {texts.openFrom}
    </Button>
  );
}
