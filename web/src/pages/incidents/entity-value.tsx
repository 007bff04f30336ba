import { Link } from '@tanstack/react-router';
import { texts } from '../../texts/incidents.ts';
import { Value } from '../../ui/value.tsx';

type Props = { type: string; value: string; at: string };

/** A value of hits of an incident, which leads to the incidents that have it. */
export function EntityValue({ type, value, at }: Props) {
  return (
    <span className="wrap-anywhere">
      <span className="text-muted">{type}</span>{' '}
      <Value value={value} at={at}>
        <Link to="/incidents" search={{ entity: value }} title={texts.withEntity} className="font-mono hover:underline">
          {value}
        </Link>
      </Value>
    </span>
  );
}
