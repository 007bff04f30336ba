import { useNavigate } from '@tanstack/react-router';
import { Expand, X } from 'lucide-react';
import type { Hit, HitStatus } from '../../api/hits.ts';
import { texts as common } from '../../texts/common.ts';
import { IconButton } from '../../ui/button.tsx';
import { HitView } from './hit-view.tsx';
import { StatusBar } from './status-bar.tsx';

type Props = {
  id: string;
  /** The hit as the list has loaded it. */
  listed: Hit | undefined;
  pending: HitStatus | null;
  onChoose: (status: HitStatus | null) => void;
  onSave: (status: HitStatus, reason: string) => Promise<boolean>;
  onClose: () => void;
};

/** The open hit beside the list, with the decisions about it. */
export function HitPanel({ id, listed, pending, onChoose, onSave, onClose }: Props) {
  const navigate = useNavigate();
  return (
    <>
      <div className="@container flex min-h-11 shrink-0 items-center gap-1 border-b px-2 py-1.5">
        {listed && (
          <StatusBar
            subject={`hit ${id}`}
            current={listed.status}
            pending={pending}
            onChoose={onChoose}
            onSave={onSave}
          />
        )}
        <span className="ml-auto flex self-start">
          {/* On a small screen the panel is as large as the page. */}
          <IconButton
            label={common.openPage}
            className="max-md:hidden"
            onClick={() => void navigate({ to: '/hits/$id', params: { id } })}
          >
            <Expand className="size-3.5" aria-hidden />
          </IconButton>
          <IconButton label={common.close} onClick={onClose}>
            <X className="size-4" aria-hidden />
          </IconButton>
        </span>
      </div>
      <div className="min-h-0 grow overflow-y-auto" key={id} data-scroll-restoration-id={id}>
        <HitView id={id} listed={listed} />
      </div>
    </>
  );
}
