/**
 * Well-known harmless hosts, addresses, files and hashes, written for this project. A host name includes its subdomains. Listed values
 * are shown with the reason and never become active.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Widely used hosts. Blocking them would do more harm than good. */
export const wellKnown = words(`
  microsoft.com windowsupdate.com windows.com live.com office.com office365.com outlook.com hotmail.com msn.com bing.com skype.com
  microsoftonline.com azure.com visualstudio.com msdn.com technet.com xbox.com linkedin.com nuget.org dot.net asp.net powershellgallery.com
  google.com googleapis.com gstatic.com gmail.com youtube.com youtu.be chrome.com chromium.org android.com blogger.com goo.gl
  google-analytics.com googletagmanager.com doubleclick.net googlesyndication.com apple.com icloud.com mzstatic.com aws.amazon.com amazon.com
  facebook.com fbcdn.net instagram.com whatsapp.com twitter.com t.co x.com reddit.com tiktok.com pinterest.com yahoo.com yandex.ru
  yandex.com vk.com mail.ru baidu.com qq.com weibo.com taobao.com alibaba.com wikipedia.org wikimedia.org wiktionary.org archive.org
  mozilla.org mozilla.com firefox.com opera.com brave.com adobe.com oracle.com java.com java.net mysql.com ibm.com intel.com amd.com
  nvidia.com hp.com dell.com lenovo.com cisco.com vmware.com citrix.com fortinet.com f5.com juniper.net sap.com salesforce.com
  apache.org python.org nodejs.org npmjs.com npmjs.org rubygems.org pypi.org debian.org ubuntu.com redhat.com centos.org fedoraproject.org
  kernel.org gnu.org openssl.org php.net perl.org golang.org rust-lang.org w3.org ietf.org iana.org icann.org rfc-editor.org iso.org
  ieee.org acm.org arxiv.org stackoverflow.com stackexchange.com superuser.com serverfault.com codeproject.com sourceforge.net
  medium.com substack.com wordpress.org joomla.org drupal.org cloudflare.com akamai.com fastly.com digicert.com verisign.com
  letsencrypt.org globalsign.com sectigo.com comodo.com entrust.net jquery.com bootstrapcdn.com jsdelivr.net unpkg.com
  docker.com docker.io kubernetes.io elastic.co grafana.com atlassian.com slack.com zoom.us teamviewer.com anydesk.com 7-zip.org
  winrar.com rarlab.com notepad-plus-plus.org putty.org torproject.org openvpn.net wireshark.org nmap.org metasploit.com
  reuters.com bbc.com bbc.co.uk cnn.com nytimes.com washingtonpost.com theguardian.com bloomberg.com forbes.com wsj.com wired.com
  arstechnica.com zdnet.com techcrunch.com theregister.com theregister.co.uk theverge.com cnet.com vice.com
  paypal.com paypalobjects.com godaddy.com naver.com daum.net join.me ebay.com netflix.com spotify.com steampowered.com steamcommunity.com discord.com telegram.org api.telegram.org t.me signal.org
  contoso.com fabrikam.com aka.ms xmlsoap.org openxmlformats.org schema.org purl.org adobe.io cobaltstrike.com joeware.net sysinternals.com
  ipify.org ifconfig.me icanhazip.com ipinfo.io ip-api.com checkip.dyndns.org whatismyip.com
  proton.me protonmail.com pm.me tutanota.com tutamail.com tuta.io tuta.com gmx.de gmx.net gmx.com web.de aol.com zoho.com fastmail.com
  libero.it virgilio.it alice.it tin.it tiscali.it laposte.net wanadoo.fr t-online.de freenet.de arcor.de bluewin.ch interia.pl onet.pl op.pl
  centrum.cz rediffmail.com comcast.net verizon.net att.net btinternet.com sina.com sohu.com
  mailfence.com onionmail.org cock.li airmail.cc rambler.ru inbox.ru bk.ru list.ru ukr.net seznam.cz wp.pl o2.pl 163.com 126.com foxmail.com
  hanmail.net nate.com yopmail.com mailinator.com guerrillamail.com hushmail.com disroot.org riseup.net mail.com
  dns.google cloudflare-dns.com one.one.one.one dns.quad9.net doh.opendns.com dns.alidns.com doh.pub dns.adguard.com nextdns.io
  infura.io alchemy.com binance.org binance.com coinbase.com kraken.com blockchain.info blockchain.com etherscan.io bscscan.com
  polygonscan.com basescan.org trongrid.io tronscan.org metamask.io ledger.com trezor.io phantom.app solana.com
  registrar-servers.com domaincontrol.com name-services.com googledomains.com dns-parking.com namebrightdns.com orderbox-dns.com porkbun.com
  namecheap.com namesilo.com dynadot.com gandi.net tucows.com enom.com publicdomainregistry.com nicenic.net key-systems.net hostinger.com
  pythonhosted.org crates.io packagist.org maven.org openai.com anthropic.com
  vivaldi.com duckduckgo.com ok.ru line.me viber.com element.io matrix.org shopify.com wix.com
  magento.com ovh.com hetzner.com digitalocean.com docusign.com docusign.net stripe.com visa.com mastercard.com
  americanexpress.com usps.com ups.com fedex.com dhl.com dhl.de dpd.com gls-group.eu royalmail.com canadapost.ca
  auspost.com.au laposte.fr aliexpress.com booking.com airbnb.com uber.com roblox.com epicgames.com asana.com
  servicenow.com workday.com okta.com duo.com lastpass.com 1password.com bitwarden.com connectwise.com splashtop.com
  ninjaone.com kaseya.com solarwinds.com progress.com sonicwall.com ivanti.com zimbra.com roundcube.net
  mastodon.social infosec.exchange bsky.app bsky.social threads.net threads.com haveibeenpwned.com patreon.com
  ko-fi.com buymeacoffee.com speakerdeck.com eventbrite.com meetup.com webex.com calendly.com kaggle.com deepseek.com
  perplexity.ai chocolatey.org brew.sh deno.land bun.sh socket.io jsr.io ghcr.io quay.io wellsfargo.com chase.com
  bankofamerica.com citi.com hsbc.com revolut.com wise.com samsung.com sony.com t-mobile.com vodafone.com kucoin.com
  okx.com bybit.com bitfinex.com gemini.com crypto.com uniswap.org opensea.io trustwallet.com myetherwallet.com
  bitget.com htx.com apnews.com nbcnews.com cbsnews.com ft.com lemonde.fr spiegel.de heise.de politico.com
  economist.com aljazeera.com rferl.org
  gov.uk europa.eu nato.int un.org who.int justice.gov fbi.gov nsa.gov dhs.gov state.gov treasury.gov whitehouse.gov army.mil
`);

/** Hosts of software, documentation and utilities, where nobody else can publish. A report that mentions a page describes a tool that was used. */
export const utilities = words(`
  nodejs.org python.org php.net perl.org golang.org go.dev rust-lang.org ruby-lang.org openssl.org curl.se gnu.org kernel.org apache.org
  nginx.org nginx.com haproxy.org sqlite.org postgresql.org mysql.com mariadb.org mongodb.com redis.io 7-zip.org rarlab.com win-rar.com
  winrar.com winscp.net putty.org notepad-plus-plus.org openvpn.net wireguard.com torproject.org wireshark.org nmap.org rclone.org
  nssm.cc frida.re ghidra-sre.org hex-rays.com x64dbg.com sysinternals.com live.sysinternals.com joeware.net autohotkey.com autoitscript.com
  obfuscator.io deobfuscate.io deobfuscate.relative.im beautifier.io jsfuck.com utf-8.jp base64decode.org base64encode.org cyberchef.org
  gchq.github.io regex101.com jsonformatter.org dcode.fr codebeautify.org ipify.org ifconfig.me ifconfig.co ifconfig.io icanhazip.com ipinfo.io
  ip-api.com ipapi.co checkip.dyndns.org checkip.amazonaws.com whatismyip.com whatismyipaddress.com myexternalip.com ident.me wtfismyip.com
  api.myip.com seeip.org ipwho.is geojs.io freegeoip.net ipecho.net learn.microsoft.com docs.microsoft.com msdn.microsoft.com
  technet.microsoft.com support.microsoft.com msrc.microsoft.com developer.mozilla.org developer.apple.com support.apple.com
  developer.android.com developers.google.com cloud.google.com support.google.com docs.aws.amazon.com docs.github.com docs.gitlab.com
  docs.python.org docs.docker.com docs.oracle.com help.ubuntu.com man7.org readthedocs.io readthedocs.org w3.org w3schools.com ietf.org
  rfc-editor.org iana.org icann.org ieee.org stackoverflow.com superuser.com serverfault.com wikipedia.org xmlsoap.org openxmlformats.org
  schema.org purl.org json-schema.org contoso.com fabrikam.com metasploit.com cobaltstrike.com
`);

/** Publishers of threat reports. Their addresses in a text are references. */
export const vendors = words(`
  welivesecurity.com eset.com esetstatic.com virusradar.com cisa.gov us-cert.gov us-cert.cisa.gov nist.gov mitre.org cve.org ncsc.gov.uk
  cert.pl cert.ssi.gouv.fr bsi.bund.de cert.gov.ua enisa.europa.eu jpcert.or.jp ic3.gov cyber.gov.au cyber.gc.ca first.org sans.org sans.edu
  misp-project.org stixproject.github.io oasis-open.org exploit-db.com attackerkb.com vuldb.com snyk.io nvd.nist.gov cwe.mitre.org
  mandiant.com fireeye.com crowdstrike.com sentinelone.com paloaltonetworks.com talosintelligence.com talosintel.com checkpoint.com
  trendmicro.com kaspersky.com securelist.com kaspersky.ru symantec.com broadcom.com mcafee.com trellix.com sophos.com proofpoint.com
  malwarebytes.com bitdefender.com avast.com avg.com avira.com f-secure.com withsecure.com gdatasoftware.com cybereason.com
  rapid7.com tenable.com qualys.com recordedfuture.com secureworks.com dragos.com claroty.com nozominetworks.com group-ib.com
  intezer.com morphisec.com cyble.com cyberint.com volexity.com zscaler.com netskope.com netscout.com arbornetworks.com akamai.com imperva.com
  sucuri.net wordfence.com patchstack.com huntress.com redcanary.com elastic.co anomali.com threatconnect.com threatpost.com
  bleepingcomputer.com thehackernews.com krebsonsecurity.com darkreading.com securityweek.com securityaffairs.com helpnetsecurity.com
  scmagazine.com infosecurity-magazine.com cyberscoop.com therecord.media securityboulevard.com csoonline.com hackread.com databreaches.net
  cybersecurity-insiders.com grahamcluley.com schneier.com thedfirreport.com malware-traffic-analysis.net hybrid-analysis.com
  virustotal.com tria.ge filescan.io intezer.com malshare.com vx-underground.org abuseipdb.com greynoise.io pulsedive.com
  opentip.kaspersky.com metadefender.com polyswarm.network any.run app.any.run joesandbox.com joesecurity.org urlscan.io shodan.io censys.io abuse.ch threatfox.abuse.ch
  alienvault.com otx.alienvault.com spamhaus.org team-cymru.com team-cymru.org greynoise.io riskiq.com domaintools.com passivetotal.org
  malpedia.caad.fkie.fraunhofer.de lolbas-project.github.io gtfobins.github.io attack.mitre.org ptsecurity.com drweb.com
  seqrite.com quickheal.com ahnlab.com asec.ahnlab.com qianxin.com 360.cn antiy.cn antiy.net knownsec.com nsfocus.com
  intel471.com flashpoint.io digitalshadows.com blackberry.com cylance.com deepinstinct.com fortiguard.com watchguard.com barracuda.com
  eclypsium.com wiz.io aquasec.com sysdig.com lacework.com orca.security datadoghq.com sekoia.io sygnia.co profero.io nccgroup.com
  coveware.com chainalysis.com elliptic.co clearskysec.com amnesty.org citizenlab.ca accessnow.org eff.org
  blackhat.com defcon.org virusbulletin.com virusbtn.com botconf.eu usenix.org zerodayinitiative.com bugcrowd.com hackerone.com
  threatcrowd.org threatminer.org reversinglabs.com vmray.com unpac.me docguard.io zoomeye.org fofa.info onyphe.io binaryedge.io
  threatbook.io threatbook.cn securitytrails.com dnslytics.com viewdns.info crt.sh mxtoolbox.com virscan.org
  security.googleblog.com blog.google trustwave.com ibm.com x-force.ibmcloud.com securityintelligence.com quadrantsec.com gteltsc.vn
`);

/** Hosts where anyone can publish under a path. */
export const pathHosting = words(`
  github.com raw.githubusercontent.com gist.github.com gist.githubusercontent.com objects.githubusercontent.com githubusercontent.com gitlab.com
  bitbucket.org pastebin.com paste.ee ghostbin.com hastebin.com rentry.co rentry.org ideone.com pastes.io controlc.com termbin.com
  dropbox.com dl.dropboxusercontent.com drive.google.com docs.google.com script.google.com sites.google.com storage.googleapis.com
  onedrive.live.com 1drv.ms sharepoint.com mega.nz mega.co.nz mediafire.com wetransfer.com sendspace.com anonfiles.com gofile.io transfer.sh
  file.io files.catbox.moe catbox.moe temp.sh bashupload.com putdrive.com box.com app.box.com 4shared.com zippyshare.com upload.ee
  cdn.discordapp.com discordapp.com media.discordapp.net discordapp.net discord.gg s3.amazonaws.com bit.ly tinyurl.com is.gd cutt.ly rb.gy ow.ly
  imgur.com i.imgur.com postimg.cc ibb.co od.lk archive.ph webhook.site requestbin.net pipedream.net
  huggingface.co gitee.com codeberg.org paste.rs dpaste.org dpaste.com pixeldrain.com krakenfiles.com 1fichier.com filebin.net tmpfiles.org
  litter.catbox.moe oshi.at files.fm workupload.com easyupload.io postimg.org imgbb.com prnt.sc gyazo.com docsend.com linktr.ee t.ly
  shorturl.at tiny.cc v.gd rebrand.ly s.id yadi.sk disk.yandex.ru cloud.mail.ru terabox.com forms.gle
  wordpress.com evernote.com notion.so trello.com telegra.ph vimeo.com soundcloud.com scribd.com slideshare.net issuu.com
`);

export const publicResolvers = words(`
  8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 149.112.112.112 208.67.222.222 208.67.220.220 4.2.2.1 4.2.2.2 4.2.2.3 4.2.2.4 114.114.114.114
  223.5.5.5 223.6.6.6 77.88.8.8 77.88.8.1 94.140.14.14 64.6.64.6 168.63.129.16 1.2.3.4 2001:4860:4860::8888 2001:4860:4860::8844
  2606:4700:4700::1111 2620:fe::fe
`);

/** Software with the name of a file, and files that most projects, browsers and sites have. */
export const projectFiles = words(`
  node.js next.js vue.js react.js angular.js ember.js express.js three.js d3.js chart.js moment.js require.js jquery.js jquery.min.js
  asp.net vb.net ado.net setup.py __init__.py __main__.py requirements.txt pyproject.toml setup.cfg package.json package-lock.json yarn.lock tsconfig.json
  readme.md readme.txt license.txt changelog.md contributing.md go.mod go.sum main.go main.rs lib.rs mod.rs cargo.toml cargo.lock pom.xml
  build.gradle gemfile.lock composer.json docker-compose.yml docker-compose.yaml cmakelists.txt web.config app.config
  cookies.sqlite key3.db key4.db cert9.db logins.json places.sqlite formhistory.sqlite signons.sqlite wallet.dat ntuser.dat usrclass.dat
  androidmanifest.xml classes.dex info.plist wp-login.php xmlrpc.php admin-ajax.php authorized_keys sshd_config
  index.js main.js app.js server.js utils.js index.php app.py utils.py conftest.py build.rs manifest.json settings.json action.yml
  web.xml server.xml nginx.conf php.ini
  program.cs startup.cs assemblyinfo.cs form1.cs main.c main.cpp main.cs main.java main.kt mainactivity.java mainactivity.kt stdafx.h
  appsettings.json global.asax wp-config.php robots.txt sitemap.xml favicon.ico .gitignore .npmrc .env index.html index.ts
`);

/** Files that are present on every system. */
export const systemFiles = words(`
  cmd.exe powershell.exe explorer.exe svchost.exe rundll32.exe regsvr32.exe mshta.exe wscript.exe cscript.exe services.exe lsass.exe csrss.exe
  winlogon.exe wininit.exe smss.exe spoolsv.exe taskmgr.exe taskhost.exe taskhostw.exe dllhost.exe conhost.exe notepad.exe calc.exe mmc.exe
  msiexec.exe schtasks.exe reg.exe regedit.exe net.exe net1.exe sc.exe wmic.exe wmiprvse.exe certutil.exe bitsadmin.exe vssadmin.exe
  bcdedit.exe wevtutil.exe wbadmin.exe netsh.exe nltest.exe whoami.exe ipconfig.exe systeminfo.exe tasklist.exe taskkill.exe ping.exe
  attrib.exe icacls.exe takeown.exe cipher.exe fsutil.exe msbuild.exe installutil.exe regasm.exe csc.exe vbc.exe cvtres.exe iexplore.exe
  chrome.exe firefox.exe msedge.exe winword.exe excel.exe powerpnt.exe outlook.exe onenote.exe eqnedt32.exe acrobat.exe acrord32.exe java.exe
  javaw.exe python.exe w3wp.exe searchindexer.exe sihost.exe ctfmon.exe userinit.exe logonui.exe werfault.exe fontdrvhost.exe dwm.exe
  kernel32.dll ntdll.dll user32.dll advapi32.dll ws2_32.dll wininet.dll winhttp.dll shell32.dll ole32.dll oleaut32.dll gdi32.dll crypt32.dll
  msvcrt.dll kernelbase.dll amsi.dll clr.dll mscoree.dll bcrypt.dll urlmon.dll shlwapi.dll psapi.dll mswsock.dll netapi32.dll iphlpapi.dll rpcrt4.dll secur32.dll comctl32.dll setupapi.dll dbghelp.dll comsvcs.dll mscorlib.dll
  runtimebroker.exe backgroundtaskhost.exe searchprotocolhost.exe searchfilterhost.exe smartscreen.exe audiodg.exe wermgr.exe
  fodhelper.exe computerdefaults.exe eventvwr.exe slui.exe wusa.exe cmstp.exe control.exe odbcconf.exe hh.exe pcalua.exe forfiles.exe
  runonce.exe verclsid.exe mavinject.exe presentationhost.exe msdt.exe wsmprovhost.exe winrs.exe makecab.exe expand.exe extrac32.exe
  robocopy.exe xcopy.exe shutdown.exe diskshadow.exe esentutl.exe ntdsutil.exe dsquery.exe csvde.exe ldifde.exe setspn.exe klist.exe
  gpupdate.exe gpresult.exe nslookup.exe netstat.exe nbtstat.exe tracert.exe arp.exe route.exe hostname.exe query.exe quser.exe
  sethc.exe utilman.exe osk.exe magnify.exe narrator.exe mstsc.exe rdpclip.exe tscon.exe at.exe wsl.exe bash.exe ssh.exe scp.exe
  curl.exe tar.exe dism.exe regsvcs.exe jsc.exe ilasm.exe aspnet_compiler.exe addinprocess32.exe dfsvc.exe msmpeng.exe mpcmdrun.exe
  onedrive.exe teams.exe opera.exe brave.exe thunderbird.exe msaccess.exe mspub.exe infopath.exe sqlservr.exe
  coregen.exe certoc.exe certreq.exe cmdkey.exe colorcpl.exe configsecuritypolicy.exe customshellhost.exe datasvcutil.exe
  desktopimgdownldr.exe diantz.exe dnscmd.exe extexport.exe fltmc.exe ftp.exe gpscript.exe ie4uinit.exe ieexec.exe imewdbld.exe
  infdefaultinstall.exe microsoft.workflow.compiler.exe offlinescannershell.exe pktmon.exe pnputil.exe printbrm.exe provlaunch.exe psr.exe
  rasautou.exe rdrleakdiag.exe register-cimprovider.exe rpcping.exe scriptrunner.exe settingsynchost.exe stordiag.exe
  syncappvpublishingserver.exe tttracer.exe unregmp2.exe wab.exe wlrmdr.exe workfolders.exe xwizard.exe atbroker.exe acccheckconsole.exe
  appvlp.exe cdb.exe csi.exe dnx.exe dotnet.exe fsi.exe msdeploy.exe msohtmed.exe msxsl.exe openconsole.exe rcsi.exe sqldumper.exe sqlps.exe
  vsjitdebugger.exe vshadow.exe visio.exe lync.exe node.exe git.exe wsreset.exe
  libc.so libc.so.6 ld-linux.so libcrypto.so libssl.so ntoskrnl.exe win32k.sys hal.dll ntds.dit desktop.ini hosts autorun.inf winre.wim boot.wim install.wim
`);

/** Hashes of the empty file and the EICAR test file. */
export const hashesOfNothing: ReadonlyMap<string, string> = new Map(
  [
    ['empty file', 'd41d8cd98f00b204e9800998ecf8427e da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    ['empty file', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['test file', '44d88612fea8a8f36de82e1278abb02f 3395856ce81f2b7382dee72602f798b642f14140'],
    ['test file', '275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f'],
  ].flatMap(([reason, hashes]) => hashes!.split(' ').map((hash): [string, string] => [hash, reason!])),
);
