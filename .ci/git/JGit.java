import java.io.File;
import java.nio.file.Files;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.transport.PushResult;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteRefUpdate;
import org.eclipse.jgit.transport.UsernamePasswordCredentialsProvider;

/** Clones, commits and pushes with jgit: JGit URL KEY FOLDER */
class JGit {
    public static void main(String[] args) throws Exception {
        var credentials = new UsernamePasswordCredentialsProvider("anyone", args[1]);
        var folder = new File(args[2]);
        try (var git = Git.cloneRepository().setURI(args[0]).setDirectory(folder).setCredentialsProvider(credentials).call()) {
            Files.writeString(folder.toPath().resolve("jgit"), "text of jgit\n");
            git.add().addFilepattern("jgit").call();
            var commit = git.commit().setMessage("By jgit").setAuthor("Ada", "ada@example.com").call();
            var push = git.push().setCredentialsProvider(credentials).setRefSpecs(new RefSpec("HEAD:refs/heads/jgit"));
            for (PushResult result : push.call())
                for (RemoteRefUpdate update : result.getRemoteUpdates())
                    if (update.getStatus() != RemoteRefUpdate.Status.OK) throw new Exception(update.toString());
            System.out.println(commit.name());
        }
    }
}
